"""A model behind a server that speaks the chat-completions protocol (OpenAI's, which many speak): messages out,
answers in, and the tools that a rule offers to the model, HTTP endpoints that take the parameters."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from adapters import trace_context
from adapters.outbound.resources.answers import Lines, broken_exchange, data_of, refused_answer
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES, MAX_TEXT, BadAnswer
from domain.json_text import loads
from domain.rendering import off_loop
from ports.http import Http, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed, Role, Turn

MAX_ARGUMENTS = 100_000
"""Characters of the arguments of a streamed tool call."""

_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be called; `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str

    def turn(self) -> Turn:
        content = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return Turn(Role.TOOL_CALL, json.dumps(content))

    def result(self, content: str, passages: Sequence[Mapping[str, Any]] = ()) -> Turn:
        """`passages`: what the content holds of knowledge bases."""
        result = {"id": self.id, "content": content, **({"passages": passages} if passages else {})}
        return Turn(Role.TOOL_RESULT, json.dumps(result))

    @classmethod
    def of(cls, turn: Turn) -> ToolCall:
        return cls(**json.loads(turn.text))

    def parameters(self) -> dict[str, Any] | None:
        """The arguments as an object, None for arguments of another kind."""
        try:
            arguments = loads(self.arguments or "{}")
        except ValueError:
            return None
        return arguments if isinstance(arguments, dict) else None


@dataclass(slots=True)
class Reply:
    """The content of one answer; `ended` once the server said that it is complete."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    ended: bool = False


def tokens(text: str) -> int:
    """About how many tokens a message takes. Three bytes a token: more than tokenisers make of English, about
    right for other scripts, so that a bound is kept rather than overrun."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3) + _PER_MESSAGE


def within_budget(turns: Sequence[Turn], budget: int) -> Sequence[Turn]:
    """The latest turns that fit in `budget` tokens, beginning with a user's."""
    left, start = budget, len(turns)
    for at in range(len(turns) - 1, -1, -1):
        left -= tokens(turns[at].text)
        if left < 0:
            break
        if turns[at].role is Role.USER:
            start = at
    return turns[start:]


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


def reply_of(value: Any) -> Reply:
    message = _choice(value, required=True).get("message")
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
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        calls.append(ToolCall(_string(item.get("id")) or f"call_{at}", function["name"], _string(arguments)))
    return Reply(_content(message.get("content")), calls, ended=True)


class EventStream:
    """Reads a streamed answer (server-sent events, one JSON chunk each, `[DONE]` at the end), or the whole one of
    a server that does not stream although it was asked to."""

    def __init__(self) -> None:
        self._lines = Lines(4 * MAX_TEXT)
        self._before = bytearray()
        self._began = False
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._ended = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """The texts in these bytes. Raises `BadAnswer`."""
        for line in self._lines.feed(piece):
            if text := self._line(line):
                self._texts.append(text)
                yield text

    def close(self) -> Reply:
        """The complete reply, once the stream ended. Raises `BadAnswer`."""
        if not self._began:
            try:
                value = loads(bytes(self._before) + self._lines.rest())
            except ValueError:
                return Reply("", [], ended=False)
            return reply_of(value)
        parts = [self._calls[at] for at in sorted(self._calls)]
        if any(not part["name"] for part in parts):
            raise BadAnswer("a tool call has no name")
        calls = [ToolCall(part["id"], part["name"], part["arguments"]) for part in parts]
        return Reply("".join(self._texts), calls, self._ended)

    def _line(self, line: bytes) -> str:
        data = data_of(line)
        if data is None:
            self._before += b"" if self._began else line + b"\n"
            return ""
        self._began = True
        if data.strip() == b"[DONE]":
            self._ended = True
            return ""
        try:
            chunk = loads(data)
        except ValueError:
            raise BadAnswer("an event of the stream is not JSON, or nested too deeply") from None
        choice = _choice(chunk, required=False)
        self._ended = self._ended or bool(choice.get("finish_reason"))
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise BadAnswer("choices[0].delta is not an object")
        for item in _calls(delta):
            self._add_call(item)
        return _content(delta.get("content"))

    def _add_call(self, item: Any) -> None:
        function = item.get("function") if isinstance(item, dict) else None
        index = item.get("index", 0) if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(index, int) or not 0 <= index < 64:
            raise BadAnswer("a piece of a tool call is malformed")
        part = self._calls.setdefault(index, {"id": f"call_{index}", "name": "", "arguments": ""})
        part["id"] = _string(item.get("id")) or part["id"]
        part["name"] += _string(function.get("name"))
        part["arguments"] += _string(function.get("arguments"))
        if len(part["arguments"]) > MAX_ARGUMENTS:
            raise BadAnswer(f"a tool call has over {MAX_ARGUMENTS} characters of arguments")


def _choice(value: Any, *, required: bool) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadAnswer("the answer is not a JSON object")
    if value.get("error"):
        raise BadAnswer("the server reports an error inside its answer")
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


def _content(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise BadAnswer("content is not text")
    return content


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


MAX_RESULT = 16_000
"""Characters of a tool's answer that go to the model."""

REJECTED_BY_USER = "The user rejected the use of this tool. It was not run."
UNDECIDED = "The user did not decide on this tool. It was not run."
INTERRUPTED = "The use of this tool was interrupted. Whether it was carried out is not known."


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool: `parameters` is its JSON Schema, `url` takes them by POST; with `confirm` a person decides."""

    name: str
    url: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    confirm: bool = True
    token: str | None = field(default=None, repr=False)

    def offer(self) -> dict[str, Any]:
        """The tool as the protocol describes it to the model."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


async def call_tool(
    http: Http, tool: ChatTool | None, call: ToolCall, request_id: str, seconds: float
) -> str:
    """The result for the model: the tool's answer as text, or in words why the tool gave no answer."""
    if tool is None:
        return f"There is no tool named {call.name}."
    parameters = call.parameters()
    if parameters is None:
        return "The arguments are not a JSON object."
    digest = sha256(f"{call.name}\n{call.arguments}".encode()).hexdigest()[:16]
    headers = {"Idempotency-Key": f"{request_id}-{digest}", **trace_context.headers()}
    if tool.token:
        headers["Authorization"] = f"Bearer {tool.token}"
    request = HttpRequest(
        "POST", tool.url, headers=headers, json=parameters, timeout=seconds, max_bytes=1_000_000
    )
    try:
        answer = await http.send(request)
    except HttpFailed:
        return "The tool could not be reached."
    text = answer.body.decode("utf-8", "replace")[:MAX_RESULT]
    return text if answer.ok else f"The tool failed with status {answer.status}: {text}"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind a server; `url` is the base address up to and without `/chat/completions`. `knowledge`: the ids
    of bases that it may search."""

    url: str
    model: str
    system: str = ""
    history_tokens: int = 4000
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[ChatTool, ...] = ()
    knowledge: tuple[int, ...] = ()
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Extra:
    """What a run adds to its rule: an instruction and tools. `closed`: no tool may be asked for any more."""

    instruction: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ModelClient:
    """Asks the model for one reply at a time."""

    http: Http
    model: ChatModel

    async def ask(
        self, turns: Sequence[Turn], seconds: float, reply: Reply, extra: Extra
    ) -> AsyncIterator[str]:
        """The texts of one reply; `reply` holds all of it afterwards. Raises `DownstreamFailed`, `BadAnswer`."""
        request, has_text = self._request(turns, seconds, extra), False
        try:
            if self.model.stream:
                events = EventStream()
                async for piece in self.http.stream(request):
                    for text in events.feed(piece):
                        has_text = True
                        yield text
                complete = events.close()
                if not complete.ended:
                    raise DownstreamFailed("the model's answer broke off", retryable=True)
            else:
                answer = await self.http.send(request)
                if not answer.ok:
                    raise refused_answer(answer)
                complete = reply_of(await off_loop(len(answer.body), answer.json))
        except HttpFailed as error:
            raise broken_exchange(error) from error
        reply.text, reply.calls = complete.text, complete.calls
        if complete.text and not has_text:
            yield complete.text

    def _request(self, turns: Sequence[Turn], seconds: float, extra: Extra) -> HttpRequest:
        model = self.model
        headers = {"Accept": "text/event-stream" if model.stream else "application/json"}
        headers |= trace_context.headers()
        if model.token:
            headers["Authorization"] = f"Bearer {model.token}"
        system = "\n\n".join(filter(None, (model.system, extra.instruction)))
        messages = [{"role": "system", "content": system}] if system else []
        messages += [message_of(turn) for turn in turns]
        optional = {
            "stream": model.stream or None,
            "temperature": model.temperature,
            "max_tokens": model.max_tokens,
            "tools": [*(tool.offer() for tool in model.tools), *extra.tools] or None,
            "tool_choice": "none" if extra.closed else None,
        }
        set_options = {name: value for name, value in optional.items() if value is not None}
        return HttpRequest(
            "POST",
            model.url.rstrip("/") + "/chat/completions",
            headers=headers,
            json={"model": model.model, "messages": messages, **set_options},
            timeout=seconds,
            max_bytes=MAX_ANSWER_BYTES,
        )
