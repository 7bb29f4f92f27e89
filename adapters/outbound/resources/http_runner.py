"""Runs resources behind an HTTP endpoint: the documented JSON goes out, the documented JSON or events come back."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from adapters.outbound.resources import messages
from adapters.outbound.resources.answers import (
    EVENTS,
    GATHER_SECONDS,
    ServerEvents,
    broken_exchange,
    is_event_stream,
    usable,
)
from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.targets import Keys, Target
from domain.json_text import loads
from domain.rendering import off_loop
from domain.routing.model import RunRequest, RunResult
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

_DELTA = "textDelta"


@dataclass(frozen=True, slots=True)
class HttpTarget(Target):
    url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "HttpTarget":
        return cls(keys.url("url"), keys.token())


@dataclass(frozen=True, slots=True)
class HttpRunner:
    """POSTs each message to one address of the operator's, with a Bearer token where there is one.

    The request id goes along as `Idempotency-Key`, so that the endpoint can tell a retry from a new message.
    """

    http: Http
    url: str
    token: str | None = field(default=None, repr=False)

    async def run(self, request: RunRequest) -> RunResult:
        """The result; what comes after the last event is not read."""
        answer = _Answer(request)
        own = {"Accept": f"{EVENTS}, application/json", "Idempotency-Key": request.request_id}
        call = HttpRequest(
            "POST",
            self.url,
            headers=call_headers(self.token, own),
            json=messages.request_json(request),
            timeout=request.timeout,
            max_bytes=messages.MAX_ANSWER_BYTES,
            gather_seconds=GATHER_SECONDS,
            on_head=answer.begin,
        )
        try:
            with usable():
                async with aclosing(cast(AsyncGenerator[bytes, None], self.http.stream(call))) as pieces:
                    async for piece in pieces:
                        events = answer.feed(piece)
                        if result := await off_loop(sum(map(len, events)), answer.read, events):
                            return result
                        answer.tell()
                return await off_loop(answer.held, answer.end)
        except HttpFailed as error:
            raise broken_exchange(error) from error


class _Answer:
    """Reads one answer: a JSON object, or events with pieces of its text and the object as the last one."""

    def __init__(self, request: RunRequest) -> None:
        self._progress = request.progress
        self._is_empty = False
        self._events: ServerEvents | None = None
        self._body: list[bytes] = []
        self._texts: list[str] = []
        self._told = 0
        self._size = 0

    def begin(self, head: HttpAnswer) -> None:
        self._is_empty = head.status == 204
        if is_event_stream(head):
            self._events = ServerEvents(messages.MAX_ANSWER_BYTES)

    def feed(self, piece: bytes) -> Sequence[bytes]:
        """The events that end in these bytes. Raises `BadAnswer`."""
        if self._events is not None:
            return self._events.feed(piece)
        self._body.append(piece)
        return ()

    def read(self, events: Sequence[bytes]) -> RunResult | None:
        """The result once the last event is there. Raises `BadAnswer`."""
        deltas: list[str] = []
        for value in _values(events):
            if not isinstance(value, dict) or _DELTA not in value:
                return messages.result_of(value)
            if not isinstance(delta := value[_DELTA], str):
                raise messages.BadAnswer(f"{_DELTA} is not a string")
            deltas.append(delta)
        if any(deltas):
            self._texts.append("".join(deltas))
            self._size += len(self._texts[-1])
        if self._size > messages.MAX_TEXT:
            raise messages.BadAnswer(f"text has over {messages.MAX_TEXT} characters")
        return None

    def tell(self) -> None:
        """Shows the text so far, if there is more of it."""
        if self._progress and len(self._texts) > self._told:
            self._told = len(self._texts)
            self._progress(lambda: "".join(self._texts))

    @property
    def held(self) -> int:
        """Bytes of a JSON object that are there."""
        return sum(map(len, self._body))

    def end(self) -> RunResult:
        """The result of an answer that ended. Raises `BadAnswer`, `DownstreamFailed`."""
        if self._events is not None:
            raise DownstreamFailed("the resource's answer broke off before its last event", retryable=True)
        if self._is_empty:
            return RunResult("")
        try:
            value = loads(b"".join(self._body))
        except ValueError:
            value = None
        return messages.result_of(value)


def _values(events: Sequence[bytes]) -> Iterator[Any]:
    for data in events:
        try:
            yield loads(data)
        except ValueError:
            raise messages.BadAnswer("an event of the stream is not JSON, or nested too deeply") from None
