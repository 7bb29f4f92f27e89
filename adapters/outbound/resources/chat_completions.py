"""The chat-completions protocol: OpenAI's, which many servers speak.

https://platform.openai.com/docs/api-reference/chat
"""

import json
from collections.abc import Mapping
from typing import Any

from adapters.outbound.resources.chat_model import (
    MAX_ARGUMENTS,
    MAX_CALLS,
    ChatProtocol,
    ModelInput,
    Reply,
    ToolCall,
    string,
)
from adapters.outbound.resources.exchanges import ServerError
from adapters.outbound.resources.messages import BadAnswer, usage_of
from adapters.outbound.resources.model_settings import ChatModel
from domain.routing.model import Usage
from ports.resources import Role, Turn

STREAM_OPTIONS = "stream_options"
"""Without it most servers tell no usage of a streamed answer."""


def message_of(turn: Turn) -> dict[str, Any]:
    if turn.role is Role.TOOL_CALL:
        call = ToolCall.of(turn)
        function = {"name": call.name, "arguments": call.arguments}
        calls = [{"id": call.id, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if turn.role is Role.TOOL_RESULT:
        result = json.loads(turn.text)
        return {"role": "tool", "tool_call_id": result["id"], "content": result["content"]}
    return {"role": str(turn.role), "content": turn.text}


def request_body(model: ChatModel, model_input: ModelInput) -> dict[str, Any]:
    """The JSON of a request; what is not set is not sent."""
    system = model_input.system(model)
    messages = [{"role": "system", "content": system}] if system else []
    messages += [message_of(turn) for turn in model_input.turns]
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in model_input.tools
    ]
    optional = {
        "stream": model.stream or None,
        STREAM_OPTIONS: {"include_usage": True} if model.stream else None,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "tools": tools or None,
        "tool_choice": "none" if model_input.closed else None,
    }
    set_options = {name: value for name, value in optional.items() if value is not None}
    return {"model": model.model, "messages": messages, **set_options}


def reply_of(value: Any) -> Reply:
    """The reply in a whole answer. Raises `BadAnswer`, `ServerError`."""
    choice = _choice(value, required=True)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BadAnswer("choices[0].message is not an object")
    calls = []
    for at, item in enumerate(_calls(message)):
        function = item.get("function") if isinstance(item, dict) else None
        if (
            not isinstance(function, dict)
            or not isinstance(function.get("name"), str)
            or not function["name"]
        ):
            raise BadAnswer(f"tool_calls[{at}] is malformed")
        calls.append(ToolCall(string(item.get("id")) or f"call_{at}", function["name"], _arguments(function)))
    return _checked(
        Reply(_content(message), calls, ended=True, usage=_usage(value)), choice.get("finish_reason")
    )


def _checked(reply: Reply, finish_reason: Any) -> Reply:
    """The reply, unless the server ended it before it had any text. A text that was cut counts."""
    if finish_reason in ("length", "content_filter") and not reply.text and not reply.calls:
        raise ServerError({"code": finish_reason, "message": "the reply ended before it had any text"})
    return reply


def _arguments(function: Mapping[str, Any]) -> str:
    """The arguments as JSON text; some servers give the object itself."""
    arguments = function.get("arguments")
    return json.dumps(arguments) if isinstance(arguments, dict) else string(arguments)


class ChunkReader:
    """`chat_model.ReplyReader`: chunks with pieces of texts and tool calls."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._latest: dict[int, int] = {}
        self._finish_reason: Any = None
        self.usage: Usage | None = None

    def event(self, event: Any) -> str:
        choice = _choice(event, required=False)
        # of servers that tell it in each chunk, the last one is whole
        self.usage = _usage(event) or self.usage
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise BadAnswer("choices[0].delta is not an object")
        for item in _calls(delta):
            self._add_call(item)
        text = _content(delta)
        self._texts.append(text)
        return text

    def reply(self) -> Reply:
        if any(not part["name"] for part in self._calls):
            raise BadAnswer("a tool call has no name")
        calls = [
            ToolCall(part["id"] or f"call_{at}", part["name"], part["arguments"])
            for at, part in enumerate(self._calls)
        ]
        reply = Reply("".join(self._texts), calls, bool(self._finish_reason), self.usage)
        return _checked(reply, self._finish_reason)

    def _add_call(self, item: Any) -> None:
        function = item.get("function") if isinstance(item, dict) else None
        index = (item.get("index") or 0) if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(index, int) or not 0 <= index < MAX_CALLS:
            raise BadAnswer("a piece of a tool call is malformed")
        id, name = string(item.get("id")), string(function.get("name"))
        part = self._part(index, id, name)
        part["id"] = id or part["id"]
        part["name"] += name
        part["arguments"] += _arguments(function)
        if len(part["arguments"]) > MAX_ARGUMENTS:
            raise BadAnswer(f"a tool call has over {MAX_ARGUMENTS} characters of arguments")

    def _part(self, index: int, id: str, name: str) -> dict[str, str]:
        """The call that a piece belongs to. Some servers do not count their calls: another id with a name begins
        another one."""
        at = self._latest.get(index)
        if at is not None and not (name and id and self._calls[at]["id"] not in ("", id)):
            return self._calls[at]
        if len(self._calls) >= MAX_CALLS:
            raise BadAnswer(f"the reply has over {MAX_CALLS} tool calls")
        self._latest[index] = len(self._calls)
        self._calls.append({"id": "", "name": "", "arguments": ""})
        return self._calls[-1]


def _choice(value: Any, *, required: bool) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadAnswer("the answer is not a JSON object")
    if value.get("error"):
        raise ServerError(value["error"])
    choices = value.get("choices")
    if not choices and not required:
        return {}
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BadAnswer("choices is not an array of objects")
    return choices[0]


def _calls(holder: Mapping[str, Any]) -> list[Any]:
    calls = holder.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadAnswer("tool_calls is not an array")
    return calls


def _content(holder: Mapping[str, Any]) -> str:
    """The text of a message or a piece of one; that of a refusal where the model refuses to answer."""
    content = holder.get("content")
    if content is None:
        return string(holder.get("refusal"))
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise BadAnswer("content is not text")
    return content


def _usage(value: Any) -> Usage | None:
    usage = value.get("usage") if isinstance(value, dict) else None
    return usage_of(usage, "prompt_tokens", "completion_tokens")


PROTOCOL = ChatProtocol("/chat/completions", request_body, reply_of, ChunkReader, _usage)
