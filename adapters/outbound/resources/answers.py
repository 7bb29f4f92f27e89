"""Answers of resources: failures and whether to try again, joined pieces of a stream, server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Any, cast

from adapters.outbound.resources.messages import MAX_TEXT, BadAnswer, checked_result
from domain.channels.rich import joined_content
from domain.routing.model import RunDelta, RunRequest, RunResult, summed
from ports.http import AddressRefused, AnswerTooLarge, HttpAnswer, HttpFailed, NoAddress
from ports.resources import DownstreamFailed

EVENTS = "text/event-stream"
"""The type of a stream of server-sent events."""
GATHER_SECONDS = 0.8
"""What comes within so many seconds of a stream is read at once: each reading costs more than the pieces in it."""

_TRY_AGAIN = frozenset({408, 425, 429})
MOST_WORDS = 300
"""Characters of a server's words about a failure."""
REDIRECTED = "redirects are not followed; give the address that they lead to"


def own_words(parts: Iterable[Any], secret: str | None) -> str:
    """The texts and numbers among these, in one line of bounded length, without the secret."""
    words = ": ".join(str(part)[: 2 * MOST_WORDS] for part in parts if part and isinstance(part, str | int))
    if secret:
        words = words.replace(secret, "***")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())
    return line if len(line) <= MOST_WORDS else line[: MOST_WORDS - 3] + "..."


def refused_answer(answer: HttpAnswer, words: str = "") -> DownstreamFailed:
    """The failure behind an answer that is not 2xx; 5xx, 429 and their like are worth another try. `words`: why, as
    the resource says it.

    A resource that answers with 503 (RFC 9110, 15.6.4) or with 4xx did not work on the request.
    """
    retryable = answer.status >= 500 or answer.status in _TRY_AGAIN
    words = words or (REDIRECTED if 300 <= answer.status < 400 else "")
    return DownstreamFailed(
        f"the resource answers with status {answer.status}{words and f': {words}'}",
        retryable=retryable,
        retry_after=answer.retry_after if retryable else None,
        begun=answer.status >= 500 and answer.status != 503,
    )


def broken_exchange(error: HttpFailed) -> DownstreamFailed:
    """The failure behind an exchange that came to no usable answer; a connection may hold the next time, while an
    address is refused again, and an answer too large again."""
    if error.answer is not None:
        return refused_answer(error.answer)
    is_lasting = isinstance(error, AnswerTooLarge | AddressRefused | NoAddress)
    return DownstreamFailed(str(error), retryable=not is_lasting, begun=not error.before_request)


async def gathered(deltas: AsyncIterator[RunDelta], request: RunRequest) -> RunResult:
    """The complete result; of a run that fails, the usage is counted. Raises `DownstreamFailed` over the limits."""
    texts: list[str] = []
    result, size = RunResult(""), 0

    def so_far() -> str:
        return "".join(texts)

    try:
        with usable():
            async with aclosing(cast(AsyncGenerator[RunDelta, None], deltas)) as closing:
                async for delta in closing:
                    if delta.replaces:
                        texts.clear()
                    texts.append(delta.text)
                    result = _with(result, delta)
                    size += len(delta.text)
                    if size > MAX_TEXT or delta.artifacts:
                        checked_result(replace(result, text=so_far()))
                    if request.progress and delta.text:
                        request.progress(so_far)
            return checked_result(replace(result, text=so_far()))
    except BaseException:
        request.usage_meter.add_failed(result.usage)
        raise


def _with(result: RunResult, delta: RunDelta) -> RunResult:
    """The result with what the next piece holds beside its text."""
    return RunResult(
        "",
        result.artifacts + delta.artifacts,
        delta.confirmation or result.confirmation,
        delta.choices or result.choices,
        wants_person=result.wants_person or delta.wants_person,
        citations=delta.citations or result.citations,
        unsearched=result.unsearched or delta.unsearched,
        rich=joined_content(result.rich, delta.rich),
        silent=result.silent or delta.silent,
        change=delta.change or result.change,
        usage=summed(result.usage, delta.usage),
    )


@contextmanager
def usable() -> Iterator[None]:
    """Makes a bad answer a failure that is not tried again."""
    try:
        yield
    except BadAnswer as error:
        raise DownstreamFailed(f"the resource's answer is unusable: {error}", retryable=False) from error


def is_event_stream(head: HttpAnswer) -> bool:
    return head.headers.get("content-type", "").partition(";")[0].strip().lower() == EVENTS


_DATA = b"data:"
_EVENT = b"event:"
_TOO_LONG = "a line of the stream is too long"


class Lines:
    """Cuts a stream of bytes into lines; a line longer than `limit` bytes is refused. Its work grows with the bytes
    alone, however they are cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that end in these bytes, without their ends. Raises `BadAnswer`."""
        first, *lines = piece.split(b"\n")
        self._add(first)
        if not lines:
            return []
        lines.insert(0, self.rest())
        self._rest, self._size = [], 0
        self._add(lines.pop())
        if max(map(len, lines)) > self._limit:
            raise BadAnswer(_TOO_LONG)
        return [line.rstrip(b"\r") for line in lines] if b"\r" in piece else lines

    def rest(self) -> bytes:
        """The line that has not ended."""
        return b"".join(self._rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise BadAnswer(_TOO_LONG)
        self._rest.append(piece)


def data_of(line: bytes) -> bytes | None:
    """The data that a line adds to its event, None for comments and other fields."""
    if not line.startswith(_DATA):
        return None
    return line[len(_DATA) :].removeprefix(b" ")


class ServerEvents:
    """The data of the events of a stream. Comments and other fields are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines = Lines(limit)
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that end in these bytes. Raises `BadAnswer`."""
        return [data for _, data in self.named(piece)]

    def named(self, piece: bytes) -> list[tuple[bytes, bytes]]:
        """The events that end in these bytes: the name of each, empty where it has none, and its data.

        Raises `BadAnswer`.
        """
        events: list[tuple[bytes, bytes]] = []
        for line in self._lines.feed(piece):
            if not line:
                if self._data:
                    events.append((self._name, b"\n".join(self._data)))
                self._data, self._size, self._name = [], 0, b""
            elif (data := data_of(line)) is not None:
                self._size += len(data) + 1
                self._data.append(data)
                if self._size > self._limit:
                    raise BadAnswer("an event of the stream is too long")
            elif line.startswith(_EVENT):
                self._name = line[len(_EVENT) :].removeprefix(b" ")
        return events
