"""HTTP/1.1 as the gateway speaks it: deadlines for slow peers, and a limit of connections."""

import asyncio
import fcntl
import sys
import termios
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from adapters.inbound.rest.heads import HeadProtocol

LEAST_RATE = 500
"""Bytes per second that a sender must send, and a reader must take, on average over the time of a stall."""
PATIENCE = 2
"""Seconds after which a body that comes too slowly makes room for others, where there are too many connections."""
RESERVED = 32
"""Connections beyond the limit, for those who ask how the service is."""

SLOW_HEAD = "the address and headers of the request did not come in time"
SLOW_BODY = f"the body of the request comes too slowly: send at least {LEAST_RATE} bytes per second"


@dataclass(frozen=True, slots=True)
class Limits:
    """Of connections. Times are in seconds: until a head is whole, and over which a transfer must keep LEAST_RATE."""

    connections: int = 1000
    head_seconds: int = 10
    stall_seconds: int = 20


class HttpProtocol(HeadProtocol):
    """Besides, deadlines for slow peers and a limit of connections.

    `tick` is called every second (see `keep_deadlines`): deadlines count these calls, so that a time in which the
    process was held up is nobody's fault.
    """

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
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        beyond = len(self.connections) - self._limits.connections
        if beyond > 0:
            self._make_room(beyond)

    def _make_room(self, beyond: int) -> None:
        """Closes the connection that has been idle for longest, else one whose body comes too slowly; where there is
        none, only health checks are answered."""
        others = [
            connection
            for connection in self.connections - {self}
            if isinstance(connection, HttpProtocol) and not connection.transport.is_closing()
        ]
        idle = list(filter(attrgetter("idle"), others))
        regular = [connection for connection in idle if not connection._crowded]
        slow = list(filter(attrgetter("slow"), others))
        self._crowded = not regular and not slow
        if slow and not regular:
            max(slow, key=lambda connection: connection._waited)._give_up(SLOW_BODY)
        elif regular or beyond > RESERVED:
            oldest = min(regular or idle, key=lambda connection: connection._idle_since, default=self)
            oldest.transport.close()

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

    def on_headers_complete(self) -> None:
        self._count_body_anew()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._waited = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A peer that waits for `100 Continue` and is refused need not send its body: the connection ends there."""
        super().on_response_complete()
        self._waited, self._idle_since = 0, self.loop.time()
        if self._receiving and self.expect_100_continue and not self._received:
            self.transport.close()


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
