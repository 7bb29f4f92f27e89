"""How often visitors of the web chat may call: token buckets in the memory of a gateway, and of a core.

Nothing is stored for a call that is refused, so that a flood costs no more than its connections. A gateway refuses
before it reads a body; a core counts what reaches it, over all of its gateways and clients.
"""

import hashlib
import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from domain.refusals import TooMany

MOST_KEYS = 20_000
"""Visitors and addresses that are remembered, those that called last; a bucket that is forgotten is full."""
MOST_STREAMS = 900
"""Of a gateway: as many as one connection to the core takes."""
MOST_STREAMS_OF_CORE = 3000
"""Of a core; further calls need some of those that its server takes."""
MOST_ORIGINS = 2000
ORIGIN_SECONDS = 5.0
"""How long it is remembered whether an origin is allowed."""
PATIENCE = 5.0
STREAMS_OF_VISITOR = 8
SLOW_DOWN = "you write too fast; wait a moment"
CROWDED = "too many people use the chat from your network; wait a moment"
FULL = "too many people use the chat at the moment; try again shortly"


class Buckets:
    """Each key may spend `size` at once, and `per_second` in the long run."""

    def __init__(self, size: float, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._per_second = per_second
        self._now = now
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def spend(self, key: Hashable, cost: float, message: str) -> None:
        """Raises `TooMany`. What costs more than a whole bucket empties a full one."""
        now = self._now()
        left, since = self._buckets.pop(key, (self._size, now))
        left = min(self._size, left + (now - since) * self._per_second)
        needed = min(cost, self._size)
        self._buckets[key] = (left - needed if left >= needed else left, now)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        if left < needed:
            raise TooMany(message, (needed - left) / self._per_second)


@dataclass(eq=False)
class VisitorLimits:
    """`most_streams`: of all visitors; one address may have half of them."""

    most_streams: int
    sessions: Buckets = field(default_factory=lambda: Buckets(300, 2))
    messages: Buckets = field(default_factory=lambda: Buckets(300, 3))
    messages_of_visitor: Buckets = field(default_factory=lambda: Buckets(10, 0.5))
    file_bytes: Buckets = field(default_factory=lambda: Buckets(100_000_000, 30_000))
    file_bytes_of_visitor: Buckets = field(default_factory=lambda: Buckets(25_000_000, 10_000))
    openings: Buckets = field(default_factory=lambda: Buckets(500, 5))
    lookups: Buckets = field(default_factory=lambda: Buckets(100, 5))
    origins: OrderedDict[tuple[str, str], tuple[bool, float]] = field(default_factory=OrderedDict)
    _open: Counter[str] = field(default_factory=Counter)

    async def is_allowed(
        self, address: str, public_id: str, origin: str, ask: Callable[[str, str], Awaitable[bool]]
    ) -> bool:
        """What `ask` answers, from memory for a while: a flood does not reach the core. Raises `TooMany`, and what
        `ask` raises."""
        key, now = (public_id, origin), time.monotonic()
        allowed, until = self.origins.get(key, (False, 0.0))
        if now < until:
            return allowed
        self.lookups.spend(address, 1, CROWDED)
        allowed = await ask(public_id, origin)
        self.origins[key] = (allowed, now + ORIGIN_SECONDS)
        if len(self.origins) > MOST_ORIGINS:
            self.origins.popitem(last=False)
        return allowed

    def session(self, address: str) -> None:
        self.sessions.spend(address, 1, CROWDED)

    def message(self, address: str, visitor: str, body_bytes: int) -> None:
        """Before the body is read; `body_bytes` is its length."""
        self.messages_of_visitor.spend(visitor, 1, SLOW_DOWN)
        self.messages.spend(address, 1, CROWDED)
        if body_bytes > 100_000:
            self.file_bytes_of_visitor.spend(visitor, body_bytes, SLOW_DOWN)
            self.file_bytes.spend(address, body_bytes, CROWDED)

    def open_stream(self, address: str, visitor: str) -> None:
        """Counts a stream until `close_stream`."""
        self.openings.spend(address, 1, CROWDED)
        if self._open[visitor] >= STREAMS_OF_VISITOR:
            raise TooMany("the chat is open in too many windows; close some of them", PATIENCE)
        if self._open[address] >= self.most_streams // 2:
            raise TooMany(CROWDED, PATIENCE)
        if self._open.total() // 2 >= self.most_streams:
            raise TooMany(FULL, PATIENCE)
        self._open.update((address, visitor))

    def close_stream(self, address: str, visitor: str) -> None:
        for key in (address, visitor):
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


def address_key(host: str) -> str:
    """An address as it is counted: one household may have all addresses of an IPv6 network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"address {host[:100]}"
    if address.version == 4:
        return f"address {address}"
    network = address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False).network_address
    return f"address {network}"


def visitor_key(token: str) -> str:
    """The whole token counts: who makes one up spends no limit of anybody else."""
    return f"visitor {hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"
