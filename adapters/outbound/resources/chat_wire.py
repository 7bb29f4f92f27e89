"""The chat-completions protocol (OpenAI's, which many servers speak): messages out, answers in. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.outbound.resources.answers import Lines, data_of
from adapters.outbound.resources.messages import MAX_TEXT, BadAnswer
from domain.json_text import loads
from ports.resources import Role, Turn

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
    """The reply in a complete answer. Raises `BadAnswer`."""
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
