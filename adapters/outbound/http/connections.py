"""The connections that are kept open between exchanges."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable

from adapters.outbound.http.connecting import Origin
from adapters.outbound.http.wire import Connection

KEPT_SECONDS = 15.0
"""How long a connection without an exchange is kept."""


class Connections:
    """At most `limit` are in use at once, `per_host` of one server; 0 is no limit. Who waits is served in turn."""

    def __init__(
        self, connect: Callable[[Origin], Awaitable[Connection]], limit: int, per_host: int = 0
    ) -> None:
        self._connect = connect
        self._limit = limit
        self._per_host = per_host
        self._idle: dict[Origin, list[Connection]] = {}
        self._used: Counter[Origin] = Counter()
        self._total = 0
        self._waiting: deque[tuple[Origin, asyncio.Future[None]]] = deque()
        self._cleaning: asyncio.TimerHandle | None = None
        self._closed = False

    def take_kept(self, origin: Origin) -> Connection | None:
        """A connection that is kept, where there is one and it may be used. To be released."""
        connection = None if self._is_full(origin) else self._kept(origin)
        if connection is not None:
            self._take(origin)
        return connection

    async def acquire(self, origin: Origin) -> Connection:
        """A new connection, or one that became free while this waited. To be released."""
        waited = self._is_full(origin)
        if waited:
            await self._wait(origin)
        else:
            self._take(origin)
        try:
            return (self._kept(origin) if waited else None) or await self._connect(origin)
        except BaseException:
            self._free(origin)
            raise

    def _kept(self, origin: Origin) -> Connection | None:
        kept, before = self._idle.get(origin), _too_long_ago()
        while kept:
            connection = kept.pop()
            if connection.is_open and connection.idle_since > before:
                connection.was_kept = True
                return connection
            connection.close()
        return None

    def release(self, origin: Origin, connection: Connection) -> None:
        """Keeps it for the next exchange, or closes it where there can be none."""
        connection.rest()
        if connection.reusable and not self._closed:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.setdefault(origin, []).append(connection)
            if self._cleaning is None:
                self._clean_later()
        else:
            connection.close()
        self._free(origin)

    def close(self) -> None:
        """Closes what is idle now, and the others when their exchanges are over."""
        self._closed = True
        if self._cleaning is not None:
            self._cleaning.cancel()
            self._cleaning = None
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def _is_full(self, origin: Origin) -> bool:
        return bool(self._limit and self._total >= self._limit) or bool(
            self._per_host and self._used[origin] >= self._per_host
        )

    def _take(self, origin: Origin) -> None:
        self._total += 1
        self._used[origin] += 1

    def _free(self, origin: Origin) -> None:
        self._total -= 1
        self._used[origin] -= 1
        if self._used[origin] <= 0:
            del self._used[origin]
        for waiting in self._waiting:
            wanted, granted = waiting
            if not granted.done() and not self._is_full(wanted):
                self._waiting.remove(waiting)
                self._take(wanted)
                granted.set_result(None)
                return

    async def _wait(self, origin: Origin) -> None:
        granted = asyncio.get_running_loop().create_future()
        waiting = (origin, granted)
        self._waiting.append(waiting)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self._free(origin)
            else:
                self._waiting.remove(waiting)
            raise

    def _clean_later(self) -> None:
        self._cleaning = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._clean)

    def _clean(self) -> None:
        """Closes what was not used for long."""
        self._cleaning = None
        before = _too_long_ago()
        for origin, connections in list(self._idle.items()):
            for connection in connections:
                if connection.idle_since <= before:
                    connection.close()
            kept = [connection for connection in connections if connection.is_open]
            if kept:
                self._idle[origin] = kept
            else:
                del self._idle[origin]
        if self._idle:
            self._clean_later()


def _too_long_ago() -> float:
    return asyncio.get_running_loop().time() - KEPT_SECONDS
