"""HTTP/1.1 as the gateway speaks it: limits for heads, deadlines, a limit of connections, the one error shape."""

from __future__ import annotations

import asyncio
import fcntl
import sys
import termios
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adapters.inbound.rest.errors import error_response

LARGEST_HEAD = 64 * 1024
"""Bytes of the address and the headers of one request, as servers and proxies usually allow."""
LARGEST_READ = 256 * 1024
"""Bytes that the event loop hands over at once: so much of other requests may come together with a head."""
LARGEST_DISCARD = 32 * 1024 * 1024
"""Bytes of a body that are read on after its request was answered, so that its sender gets to see the answer."""
LEAST_RATE = 500
"""Bytes per second that a sender must send, and a reader must take, on average over the time of a stall."""
PATIENCE = 2
"""Seconds after which a body that comes too slowly makes room for others, where there are too many connections."""
RESERVED = 32
"""Connections beyond the limit, for those who ask how the service is."""
ALWAYS_ANSWERED = ("/healthz", "/readyz", "/metrics")

NOT_HTTP = "the request is not valid HTTP"
HEAD_TOO_LARGE = f"the address and headers of the request are over {LARGEST_HEAD // 1024} KB"
TRAILERS_TOO_LARGE = f"the trailers or chunk extensions of the request are over {LARGEST_HEAD // 1024} KB"
SLOW_HEAD = "the address and headers of the request did not come in time"
SLOW_BODY = f"the body of the request comes too slowly: send at least {LEAST_RATE} bytes per second"
CROWDED = "the service has too many connections; try again shortly"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of connections. Times are in seconds: until a head is whole, and over which a transfer must keep LEAST_RATE."""

    connections: int = 1000
    head_seconds: int = 10
    stall_seconds: int = 20


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which knows no limit for heads, no deadlines, and answers in plain text.

    Overrides the callbacks of the parser and `send_400_response`, with which uvicorn answers before there is a
    request that could be handed to the application. `tick` is called every second (see `keep_deadlines`): deadlines
    count these calls, so that a time in which the process was held up is nobody's fault.
    """

    _in_head = False
    _chunk = 0
    """Bytes that were read at once, the latest time."""
    _read = 0
    """Bytes that were read since the present head began, with all of the chunk in which it did, or since the latest
    piece of its body."""
    _receiving = False
    """Whether the body of a request is not whole yet."""
    _received = 0
    """Bytes of the body since its time began to count."""
    _discarded = 0
    _waited = 0
    """Seconds for which the peer has had to send the head, or LEAST_RATE of the body."""
    _unread = 0
    """Bytes that the peer had yet to take when `_stalled` began to count."""
    _stalled = 0
    _crowded = False
    """Whether there were so many connections that this one is for health checks alone."""
    _idle_since = 0.0
    _answering: Any = None
    """The request that is being answered, or was at last. `cycle` is the newest one, which may have to wait."""

    def __init__(self, *arguments: Any, limits: Limits = Limits(), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        beyond = len(self.connections) - self._limits.connections
        if beyond > 0:
            self._make_room(beyond)

    def _make_room(self, beyond: int) -> None:
        """Closes the connection that has been idle for longest, else one whose body comes too slowly; where there is
        none, only health checks are answered."""
        others = [each for each in self.connections if isinstance(each, HttpProtocol) and each is not self]
        others = [each for each in others if not each.transport.is_closing()]
        idle = [each for each in others if each.idle]
        regular = [each for each in idle if not each._crowded]
        slow = [each for each in others if each.slow]
        self._crowded = not regular and not slow
        if slow and not regular:
            max(slow, key=lambda each: each._waited)._give_up(SLOW_BODY)
        elif regular or beyond > RESERVED:
            oldest = min(regular or idle, key=lambda each: each._idle_since, default=self)
            oldest.transport.close()

    @property
    def idle(self) -> bool:
        """Whether the connection waits for a request, or for the rest of its head."""
        return not self._receiving and (self.cycle is None or self.cycle.response_complete)

    @property
    def slow(self) -> bool:
        """Whether a body comes more slowly than it must, so far."""
        return self._receiving and self._waited >= PATIENCE and self._received < LEAST_RATE * self._waited

    def tick(self) -> None:
        """A second has passed: ends the connection when its peer is too slow."""
        if self.transport.is_closing() and not self.transport.get_write_buffer_size():
            return
        self._tick_written()
        if self.transport.is_closing():
            return
        if self._receiving:
            self._tick_body()
        elif self.idle and self.timeout_keep_alive_task is None:
            self._waited += 1
            if self._waited > self._limits.head_seconds:
                self._give_up(SLOW_HEAD)

    def _tick_body(self) -> None:
        if self.flow.read_paused or (self.cycle.waiting_for_100_continue and not self._received):
            self._count_body_anew()  # the peer waits for us
            return
        self._waited += 1
        if self._waited < self._limits.stall_seconds:
            return
        if self._received < LEAST_RATE * self._waited:
            self._give_up(SLOW_BODY)
        self._count_body_anew()

    def _count_body_anew(self) -> None:
        self._waited = self._received = 0

    def _tick_written(self) -> None:
        """Ends the connection of a peer that does not take what it asked for: it holds memory."""
        unread = self.transport.get_write_buffer_size()
        unread += _in_kernel(self.transport) if unread else 0
        if not unread or not self._stalled:
            self._unread, self._stalled = unread, int(unread > 0)
            return
        self._stalled += 1
        if self._stalled < 3 * self._limits.stall_seconds:
            return
        if self._unread - unread < LEAST_RATE * self._stalled:
            self.transport.abort()
        self._stalled = 0

    def _give_up(self, why: str) -> None:
        if self._in_head or self._receiving:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, why)
        else:  # nobody asked anything
            self.transport.close()

    def resume_writing(self) -> None:
        self._stalled = 0
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._chunk = len(data)
        self._read += self._chunk
        super().data_received(data)
        if self._read <= LARGEST_HEAD + LARGEST_READ or self.transport.is_closing():
            return
        if self._in_head or self._receiving:
            why = HEAD_TOO_LARGE if self._in_head else TRAILERS_TOO_LARGE
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, why)

    def on_message_begin(self) -> None:
        self._in_head, self._read = True, self._chunk
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._read > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            raise HeadTooLarge  # the parser stops, and the request is answered by `send_400_response`
        self._receiving, self._discarded = True, 0
        self._count_body_anew()
        if self._crowded and self.url.partition(b"?")[0].decode("latin-1") not in ALWAYS_ANSWERED:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, CROWDED)
            return
        super().on_headers_complete()
        self.headers = []  # takes the trailers, which are no headers of the request (RFC 9110, 6.5.1)
        if self._answering is None or self._answering.response_complete:
            self._answering = self.cycle

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        self._read = 0
        if self.transport.is_closing():
            return
        if self.cycle.response_complete:
            self._discarded += len(body)
            if self._discarded > LARGEST_DISCARD:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving, self._waited = False, 0
        if not self.transport.is_closing():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """A peer that waits for `100 Continue` and is refused need not send its body: the connection ends there."""
        self._answering = self.pipeline[-1][0] if self.pipeline else self.cycle
        super().on_response_complete()
        self._waited, self._idle_since = 0, self.loop.time()
        if self._receiving and self.expect_100_continue and not self._received:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """uvicorn tells the newest request alone, and one before it would write to a connection that is closed."""
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def _unsupported_upgrade_warning(self) -> None:
        """The request is served as if it had not asked for an upgrade (RFC 9110, 7.8)."""

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def send_400_response(self, msg: str) -> None:
        if self._read > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, HEAD_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, NOT_HTTP)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Answers and closes; where another answer is under way, that one is cut off instead of mixed up."""
        cycle = self._answering
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(self._refusal(status, why))
        self.transport.close()

    def _refusal(self, status: HTTPStatus, why: str) -> bytes:
        retry = {"retry-after": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
        answer = error_response(status, why, retry)
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(answer.body)


def _in_kernel(transport: asyncio.Transport) -> int:
    """Bytes that lie in the socket's own buffer: it takes them in large pieces, so that a slow reader shows there
    alone. 0 where the system does not tell."""
    try:
        return int.from_bytes(
            fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0" * 4),
            sys.byteorder,
        )
    except OSError:
        return 0


async def keep_deadlines(connections: Iterable[Any]) -> None:
    """Tells each connection of each second, until it is cancelled."""
    while True:
        await asyncio.sleep(1)
        for connection in list(connections):
            if isinstance(connection, HttpProtocol):
                connection.tick()
