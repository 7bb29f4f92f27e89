"""HTTP/1.1 as the gateway speaks it: limits for heads, deadlines for slow peers, a limit of connections, and answers
in the one error shape to what never becomes a request."""

import asyncio
import fcntl
import re
import sys
import termios
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adapters.inbound.rest.errors import ALWAYS_ANSWERED, error_response

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

HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?")
"""A name or an address, and perhaps a port (RFC 3986, 3.2.2)."""
NO_HOST = "the request has no header Host: HTTP/1.1 asks for the name of the server in it"
SEVERAL_HOSTS = "the request has the header Host more than once"
WRONG_HOST = "the header Host is no host name or address with an optional port"
NOT_HTTP = "the request is not valid HTTP"
HEAD_TOO_LARGE = f"the address and headers of the request are over {LARGEST_HEAD // 1024} KB"
TRAILERS_TOO_LARGE = f"the trailers or chunk extensions of the request are over {LARGEST_HEAD // 1024} KB"
CROWDED = "the service has too many connections; try again shortly"
SLOW_HEAD = "the address and headers of the request did not come in time"
SLOW_BODY = f"the body of the request comes too slowly: send at least {LEAST_RATE} bytes per second"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of connections. Times are in seconds: until a head is whole, and over which a transfer must keep LEAST_RATE."""

    connections: int = 1000
    head_seconds: int = 10
    stall_seconds: int = 20


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which knows no limit for heads and answers in plain text.

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
    _discarded = 0
    _crowded = False
    """Whether there were so many connections that this one is for health checks alone."""
    _current: Any = None
    """The request that is being answered, or was at last. `cycle` is the newest one, which may have to wait."""
    _received = 0
    """Bytes of the body since its time began to count."""
    _waited = 0
    """Seconds for which the peer has had to send the head, or LEAST_RATE of the body."""
    _unread = 0
    """Bytes that the peer had yet to take when `_stalled` began to count."""
    _stalled = 0
    _idle_since = 0.0

    def __init__(self, *arguments: Any, limits: Limits = Limits(), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Where there are too many connections, closes the one that has been idle for longest, else one whose body
        comes too slowly. Without such a connection, this one is for health checks alone."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        beyond = len(self.connections) - self._limits.connections
        if beyond <= 0:
            return
        others = [
            connection
            for connection in self.connections - {self}
            if isinstance(connection, HttpProtocol) and not connection.transport.is_closing()
        ]
        idle = list(filter(attrgetter("idle"), others))
        regular = [connection for connection in idle if not connection._crowded]
        slow = list(filter(attrgetter("slow"), others))
        self._crowded = not [*regular, *slow]
        if slow and not regular:
            max(slow, key=attrgetter("_waited"))._give_up(SLOW_BODY)
        elif regular or beyond > RESERVED:
            oldest = min(regular or idle, key=attrgetter("_idle_since"), default=self)
            oldest.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """uvicorn tells the newest request alone, and one before it would write to a connection that is closed."""
        if self._current is not None and not self._current.response_complete:
            self._current.disconnected = True
            self._current.message_event.set()
        super().connection_lost(exc)

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
        self._waited = self._received = 0
        self._in_head = False
        if self._head_is_too_large():
            raise HeadTooLarge  # the parser stops, and the request is answered by `send_400_response`
        self._receiving, self._discarded = True, 0
        if fault := self._host_fault():
            self._refuse(HTTPStatus.BAD_REQUEST, fault)
            return
        self.scope["target"] = self.url  # type: ignore[typeddict-unknown-key]
        if self._crowded and self.url.partition(b"?")[0].decode("latin-1") not in ALWAYS_ANSWERED:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, CROWDED)
            return
        super().on_headers_complete()
        self.headers = []  # takes the trailers, which are no headers of the request (RFC 9110, 6.5.1)
        if self._current is None or self._current.response_complete:
            self._current = self.cycle

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
        self._waited = 0
        self._receiving = False
        if not self.transport.is_closing():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """A peer that waits for `100 Continue` and is refused need not send its body: the connection ends there."""
        self._current = self.pipeline[-1][0] if self.pipeline else self.cycle
        super().on_response_complete()
        self._waited, self._idle_since = 0, self.loop.time()
        if self._receiving and self.expect_100_continue and not self._received:
            self.transport.close()

    def resume_writing(self) -> None:
        self._stalled = 0
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """The request is served as if it had not asked for an upgrade (RFC 9110, 7.8)."""

    def _host_fault(self) -> str:
        """Why the header Host is refused, which HTTP/1.1 requires once (RFC 9112, 3.2); empty if it is right."""
        hosts = [value for name, value in self.headers if name == b"host"]
        if not hosts:
            return NO_HOST if self.parser.get_http_version() not in ("0.9", "1.0") else ""
        if len(hosts) > 1:
            return SEVERAL_HOSTS
        return "" if HOST.fullmatch(hosts[0]) else WRONG_HOST

    def _head_is_too_large(self) -> bool:
        if self._read <= LARGEST_HEAD:
            return False
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD

    def send_400_response(self, msg: str) -> None:
        if self._head_is_too_large():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, HEAD_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, NOT_HTTP)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Answers and closes; where another answer is under way, that one is cut off instead of mixed up."""
        cycle = self._current
        if cycle is None or cycle.response_complete or not cycle.response_started:
            retry = {"retry-after": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
            answer = error_response(status, why, retry)
            headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
            lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
            lines += [name + b": " + value for name, value in headers]
            self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + bytes(answer.body))
        self.transport.close()

    @property
    def idle(self) -> bool:
        """Return True if the connection waits for a request, or for the rest of its head."""
        return not self._receiving and (self.cycle is None or self.cycle.response_complete)

    @property
    def slow(self) -> bool:
        """Return True if the body has come more slowly than `LEAST_RATE` so far."""
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
            self._waited = self._received = 0  # the peer waits for us
            return
        self._waited += 1
        if self._waited < self._limits.stall_seconds:
            return
        if self._received < LEAST_RATE * self._waited:
            self._give_up(SLOW_BODY)
        self._waited = self._received = 0

    def _tick_written(self) -> None:
        """Ends the connection of a peer that does not take what it asked for: it holds memory. What lies in the
        socket's own buffer counts too: it takes large pieces, so that a slow reader shows there alone."""
        unread = self.transport.get_write_buffer_size()
        if unread:
            with suppress(OSError):  # the system does not tell
                descriptor = self.transport.get_extra_info("socket").fileno()
                in_kernel = fcntl.ioctl(descriptor, termios.TIOCOUTQ, b"\0" * 4)
                unread += int.from_bytes(in_kernel, sys.byteorder)
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


async def keep_deadlines(connections: Iterable[Any]) -> None:
    """Tells each connection of each second, until it is cancelled."""
    while True:
        await asyncio.sleep(1)
        for connection in list(connections):
            if isinstance(connection, HttpProtocol):
                connection.tick()
