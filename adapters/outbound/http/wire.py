"""One connection of HTTP/1.1, read by the parser of httptools: one exchange after the other."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import dataclass, field
from typing import cast

import httptools

MOST_WAITING = 256 * 1024
"""Bytes of an answer that may wait for their reader before no more are taken from the socket."""
LONGEST_HEADER = 8190
"""Bytes of the value of a header."""
MOST_APART = 64 * 1024
"""Bytes that may come in a row and are no body: a head, trailers."""
PIECE = 64 * 1024
_TAKEN = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_spaces_after_chunk_size": True,
}
"""What servers that were written by hand get wrong and client libraries take. No length of a body is among it."""
_NO_VALUE = re.compile(rb"[\x00\r\n]")


class Unreadable(Exception):
    """What came is no answer of HTTP/1.1."""


@dataclass(slots=True)
class Head:
    """Header names are lower-case."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)


class Connection(asyncio.Protocol):
    """`begin`, then `read` until it gives nothing; then, if `reusable`, the next exchange may begin.

    Nobody waits longer than the deadline of the exchange, which is one timer. Reads by one reader.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_TAKEN)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._paused = False
        self._head: Head | None = None
        self._apart = self._fields = 0
        self._has_head = self._ended = self._keeps_alive = False
        self._failure: BaseException | None = None
        self.answered = False
        self.was_kept = False
        self.idle_since = 0.0

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing() and self._failure is None

    @property
    def reusable(self) -> bool:
        """Never with bytes that nobody read: whoever came next would take them for the beginning of his answer. Nor
        where the answer came before all of the request had left."""
        over = self._ended and self._keeps_alive and not (self._paused or self._pieces)
        return over and self.is_open and not self._has_unsent

    @property
    def _has_unsent(self) -> bool:
        return self._transport is not None and self._transport.get_write_buffer_size() > 0

    async def begin(self, request: bytes, deadline: float) -> Head:
        """Sends a request; the head of the answer."""
        self._head, self._apart, self._fields = Head(), 0, 0
        self._has_head = self._ended = self.answered = False
        self._timer = self._loop.call_at(deadline, self._expire)
        if self._failure is None and self._transport is not None:
            self._transport.write(request)
        head = self._head
        while not self._has_head:
            await self._more()
        return head

    async def read(self) -> bytes:
        """What came of the body, at most `PIECE` bytes; empty at its end."""
        while not self._pieces:
            if self._ended:
                return b""
            await self._more()
        piece = b"".join(self._pieces)
        self._pieces.clear()
        if len(piece) > PIECE:
            self._pieces.append(piece[PIECE:])
            piece = piece[:PIECE]
        self._waiting -= len(piece)
        self._regulate()
        return piece

    async def gather(self, seconds: float) -> None:
        """Leaves what comes meanwhile to the operating system: it wakes nobody."""
        if self._transport is None or self._ended or not self.is_open:
            return
        self._transport.pause_reading()
        self._paused = True
        try:
            await asyncio.sleep(seconds)
        finally:
            self._regulate()

    def rest(self) -> None:
        """The exchange is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._head = None

    def close(self) -> None:
        self.rest()
        if self._transport is None:
            return
        if self._ended and not self._has_unsent:
            self._transport.close()
        else:
            self._transport.abort()

    async def _more(self) -> None:
        """Waits until something has changed. Raises what keeps it from changing."""
        if self._failure is not None:
            raise self._failure
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, failure: BaseException) -> None:
        self._failure = self._failure or failure
        self._wake()

    def _expire(self) -> None:
        self._fail(TimeoutError())

    def _regulate(self) -> None:
        """Takes no more from the socket while much waits for the reader."""
        if self._transport is None or self._paused is (self._waiting > MOST_WAITING):
            return
        self._paused = not self._paused
        if self._paused:
            self._transport.pause_reading()
        elif not self._transport.is_closing():
            self._transport.resume_reading()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._head is None:  # nothing was asked
            self.close()
            return
        self.answered = True
        self._apart += len(data)
        try:
            self._parser.feed_data(data)
            if self._apart > MOST_APART:
                raise Unreadable("too much that is no body")
        except httptools.HttpParserCallbackError as error:
            self._fail(Unreadable(str(error.__context__ or error)))
            self.close()
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, Unreadable) as error:
            self._fail(Unreadable(str(error)))
            self.close()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if not self._ended and self._is_until_close() and error is None:
            self._ended = True
        self._fail(ConnectionResetError("the connection is closed"))

    def _is_until_close(self) -> bool:
        """Whether the end of the connection is the end of the body (RFC 9112, 6.3)."""
        if not self._has_head or self._head is None:
            return False
        return "content-length" not in self._head.headers and "chunked" not in self._head.headers.get(
            "transfer-encoding", ""
        )

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._ended:
            raise Unreadable("more came than was asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += len(name) + len(value)
        if len(value) > LONGEST_HEADER or self._fields > MOST_APART:
            raise Unreadable("its headers are too long")
        if _NO_VALUE.search(value):
            raise Unreadable("a header has a control character in its value")
        if self._head is not None and not self._has_head:
            text = value.strip(b" \t").decode("utf-8", "surrogateescape")
            self._head.headers[name.decode("latin-1").lower()] = text

    def on_headers_complete(self) -> None:
        assert self._head is not None
        self._head.status = self._parser.get_status_code()
        if self._head.status >= 200:
            self._has_head, self._apart = True, 0
            self._keeps_alive = self._parser.should_keep_alive()
        else:  # an answer follows
            self._head.headers.clear()

    def on_body(self, body: bytes) -> None:
        self._apart = 0
        self._pieces.append(body)
        self._waiting += len(body)
        self._regulate()

    def on_message_complete(self) -> None:
        self._ended, self._apart = self._has_head, 0
