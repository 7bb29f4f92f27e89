"""The Responses protocol of OpenAI. The conversation stays here: nothing is stored at the server, and each request
has the whole input.

https://platform.openai.com/docs/api-reference/responses
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

_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")
_TEXT_DELTAS = ("response.output_text.delta", "response.refusal.delta")
_ARGUMENTS = ("response.function_call_arguments.delta", "response.function_call_arguments.done")
_GAP = "\n\n"
"""Between two messages of one response."""


def item_of(turn: Turn) -> dict[str, Any]:
    if turn.role is Role.TOOL_CALL:
        call = ToolCall.of(turn)
        return {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments or "{}",
        }
    if turn.role is Role.TOOL_RESULT:
        result = json.loads(turn.text)
        return {"type": "function_call_output", "call_id": result["id"], "output": result["content"]}
    return {"role": str(turn.role), "content": turn.text}


def request_body(model: ChatModel, model_input: ModelInput) -> dict[str, Any]:
    """The JSON of a request; what is not set is not sent."""
    tools = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "strict": False,  # else servers refuse schemas with optional parameters
        }
        for tool in model_input.tools
    ]
    optional = {
        "instructions": model_input.system(model) or None,
        "stream": model.stream or None,
        "temperature": model.temperature,
        "max_output_tokens": model.max_tokens,
        "tools": tools or None,
        "tool_choice": "none" if model_input.closed else None,
    }
    set_options = {name: value for name, value in optional.items() if value is not None}
    items = [item_of(turn) for turn in model_input.turns]
    return {"model": model.model, "input": items, "store": False, **set_options}


def reply_of(value: Any) -> Reply:
    """The reply in a whole response. Raises `BadAnswer`, `ServerError`."""
    _check_status(_object(value, "the answer"))
    output = value.get("output")
    if not isinstance(output, list):
        raise BadAnswer("output is not an array")
    texts: list[str] = []
    calls: list[ToolCall] = []
    for at, item in enumerate(output):
        _object(item, f"output[{at}]")
        if item.get("type") == "message":
            texts.append(_message_text(item, at))
        elif item.get("type") == "function_call" and item.get("status") != "incomplete":
            calls.append(_call(item, at))
    if len(calls) > MAX_CALLS:
        raise BadAnswer(f"output has over {MAX_CALLS} function calls")
    reply = Reply(_GAP.join(filter(None, texts)), calls, ended=True, usage=_usage(value))
    return _checked(reply, value)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadAnswer(f"{name} is not a JSON object")
    return value


def _check_status(value: Mapping[str, Any]) -> None:
    if value.get("error") or value.get("status") in ("failed", "cancelled"):
        raise ServerError(value.get("error") or {"message": f"the response is {value['status']}"})


def _checked(reply: Reply, value: Mapping[str, Any]) -> Reply:
    """The reply, unless nothing of it was made before the server ended it. A text that was cut counts."""
    if value.get("status") != "incomplete" or reply.text or reply.calls:
        return reply
    details = value.get("incomplete_details")
    reason = string(details.get("reason")) if isinstance(details, dict) else ""
    raise ServerError(
        {"code": reason or "incomplete", "message": "the response is incomplete and has no text"}
    )


def _message_text(item: Mapping[str, Any], at: int) -> str:
    """The text of a message; that of a refusal where the model refuses to answer."""
    content = item.get("content")
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise BadAnswer(f"output[{at}].content is not an array of objects")
    return "".join(string(part.get("text")) or string(part.get("refusal")) for part in content)


def _call(item: Mapping[str, Any], at: int) -> ToolCall:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise BadAnswer(f"output[{at}] is a function call without a name")
    arguments = string(item.get("arguments"))
    if len(arguments) > MAX_ARGUMENTS:
        raise BadAnswer(f"output[{at}] has over {MAX_ARGUMENTS} characters of arguments")
    return ToolCall(string(item.get("call_id")) or string(item.get("id")) or f"call_{at}", name, arguments)


class ResponseReader:
    """`chat_model.ReplyReader`: events with pieces of texts, function calls as they are added and done, and the
    response as the last event."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._message = -1
        self._calls: dict[int, dict[str, Any]] = {}
        self._last: dict[str, Any] | None = None

    def event(self, event: Any) -> str:
        event = _object(event, "an event of the stream")
        kind = event.get("type")
        if kind in _TEXT_DELTAS:
            return self._add_text(event)
        if kind == "error" or (event.get("error") and not kind):
            raise ServerError(event.get("error") or event)
        if kind in ("response.output_item.added", "response.output_item.done"):
            self._add_item(event)
        elif kind in _ARGUMENTS:
            self._add_arguments(event)
        elif kind in _LAST_EVENTS:
            self._last = _object(event.get("response"), "response")
            _check_status(self._last)
        return ""

    @property
    def usage(self) -> Usage | None:
        return _usage(self._last)

    def reply(self) -> Reply:
        last = self._last or {}
        if not self._texts and not self._calls and last.get("output"):
            return reply_of(last)  # of a server that tells nothing before the end
        items = sorted(self._calls.items())
        calls = [_call(item, at) for at, item in items if item.get("status") != "incomplete"]
        reply = Reply("".join(self._texts), calls, self._last is not None, _usage(last))
        return _checked(reply, last)

    def _add_text(self, event: Mapping[str, Any]) -> str:
        text, index = event.get("delta"), _index(event)
        if not isinstance(text, str):
            raise BadAnswer("delta of a text is not a string")
        if self._texts and index != self._message:
            text = _GAP + text
        self._message = index
        self._texts.append(text)
        return text

    def _add_item(self, event: Mapping[str, Any]) -> None:
        item = _object(event.get("item"), "item")
        if item.get("type") == "function_call":
            self._calls[_index(event)] = {**item, "arguments": string(item.get("arguments"))}
            if len(self._calls) > MAX_CALLS:
                raise BadAnswer(f"the response has over {MAX_CALLS} function calls")

    def _add_arguments(self, event: Mapping[str, Any]) -> None:
        item = self._calls.get(_index(event))
        if item is None:
            raise BadAnswer("arguments belong to no function call")
        before = "" if "arguments" in event else item["arguments"]  # the last event has all of them
        item["arguments"] = before + (string(event.get("delta")) or string(event.get("arguments")))
        if len(item["arguments"]) > MAX_ARGUMENTS:
            raise BadAnswer(f"a function call has over {MAX_ARGUMENTS} characters of arguments")


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("output_index", 0)
    if type(index) is not int or index < 0:
        raise BadAnswer("output_index is not a number")
    return index


def _usage(value: Any) -> Usage | None:
    usage = value.get("usage") if isinstance(value, dict) else None
    return usage_of(usage, "input_tokens", "output_tokens")


PROTOCOL = ChatProtocol("/responses", request_body, reply_of, ResponseReader, _usage)
