"""A model behind a server, whatever protocol it speaks: the turns and tools that it is given, and its replies, whole
or streamed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from adapters.outbound.resources.answers import Lines, data_of
from adapters.outbound.resources.messages import MAX_TEXT, BadAnswer
from adapters.outbound.resources.model_settings import ChatModel
from domain.json_text import loads
from domain.routing.model import Usage
from ports.resources import Role, Turn

MAX_ARGUMENTS = 100_000
"""Characters of the arguments of a streamed tool call."""
MAX_CALLS = 64
"""Tool calls in one reply."""

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
    """The content of one answer; `ended` once the server said that it is complete. `usage`: None if the server does
    not tell it."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    ended: bool = False
    usage: Usage | None = None

    def take(self, other: Reply) -> None:
        """Takes the content of another reply."""
        self.text, self.calls, self.ended, self.usage = other.text, other.calls, other.ended, other.usage


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


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool as it is described to a model; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model is given for one reply. `instruction` follows the system prompt of its rule. `closed`: no tool may
    be asked for any more."""

    turns: Sequence[Turn]
    instruction: str = ""
    tools: Sequence[ToolOffer] = ()
    closed: bool = False

    def system(self, model: ChatModel) -> str:
        return "\n\n".join(filter(None, (model.system, self.instruction)))


class ReplyReader(Protocol):
    """Reads the events of one streamed reply. `usage`: what they have told of it so far."""

    @property
    def usage(self) -> Usage | None: ...

    def event(self, event: Any) -> str:
        """The text in an event. Raises `BadAnswer`, `ServerError`."""

    def reply(self) -> Reply:
        """What the events held. Raises `BadAnswer`."""


@dataclass(frozen=True, slots=True)
class ChatProtocol:
    """How servers of one protocol are asked: `path` follows the base address, `body` makes the JSON of a request,
    `reply_of` reads a whole answer and raises `BadAnswer` or `ServerError`, `reader` reads a streamed one. `usage_of`
    reads the usage alone, also of an answer that is unusable else."""

    path: str
    body: Callable[[ChatModel, ModelInput], dict[str, Any]]
    reply_of: Callable[[Any], Reply]
    reader: Callable[[], ReplyReader]
    usage_of: Callable[[Any], Usage | None]


class EventStream:
    """Reads a streamed answer (server-sent events with JSON, perhaps `[DONE]` at the end), or the whole one of a
    server that does not stream although it was asked to."""

    def __init__(self, protocol: ChatProtocol) -> None:
        self._protocol = protocol
        self._reader = protocol.reader()
        self._lines = Lines(4 * MAX_TEXT)
        self._before = bytearray()
        self._began = False
        self._is_done = False

    @property
    def usage(self) -> Usage | None:
        return self._reader.usage

    def feed(self, piece: bytes) -> Iterator[str]:
        """The texts in these bytes. Raises `BadAnswer`, `ServerError`."""
        for line in self._lines.feed(piece):
            if text := self._line(line):
                yield text

    def close(self) -> Reply:
        """The complete reply, once the stream ended. Raises `BadAnswer`, `ServerError`."""
        if not self._began:
            try:
                value = loads(bytes(self._before) + self._lines.rest())
            except ValueError:
                return Reply()
            return self._protocol.reply_of(value)
        reply = self._reader.reply()
        reply.ended = reply.ended or self._is_done
        return reply

    def _line(self, line: bytes) -> str:
        data = data_of(line)
        if data is None:
            self._before += b"" if self._began else line + b"\n"
            return ""
        self._began = True
        if data.strip() == b"[DONE]":
            self._is_done = True
            return ""
        try:
            event = loads(data)
        except ValueError:
            raise BadAnswer("an event of the stream is not JSON, or nested too deeply") from None
        return self._reader.event(event)


def string(value: Any) -> str:
    """The value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""
