"""At most so many calls at a time with one credential."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from domain.channels.limits import Limits
from domain.channels.messages import Target
from domain.delivery.model import account_key
from domain.instances.model import Instance
from ports.channels import AnyChannel

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Queue:
    """Calls under way with one credential, and those that wait for one of them to end, the longest first."""

    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class ConcurrencyLimiter:
    """Slots of this process; `workers` processes split each limit, and each has one slot at least."""

    def __init__(self) -> None:
        self.workers = 1
        self._queues: dict[str, _Queue] = {}

    def share(self, limit: int) -> int:
        """How many calls of a limit this process may make at a time."""
        return max(1, limit // self.workers)

    def is_full(self, key: str, limit: int) -> bool:
        """Return True if a call would have to wait for a slot."""
        queue = self._queues.get(key)
        return queue is not None and (queue.running >= self.share(limit) or bool(queue.waiting))

    async def acquire(self, key: str, limit: int, patience: float | None = None) -> bool:
        """Waits for a slot, at most `patience` seconds; False when none came free. First come, first served."""
        queue = self._queues.setdefault(key, _Queue())
        if queue.running < self.share(limit) and not queue.waiting:
            queue.running += 1
            return True
        free: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiting.append(free)
        try:
            async with asyncio.timeout(patience):
                await free
        except BaseException as ended:
            if free.done() and not free.cancelled():
                self.release(key, limit)  # the slot came in the same moment
            elif free in queue.waiting:
                queue.waiting.remove(free)
            if isinstance(ended, TimeoutError):
                return False
            raise
        return True

    def release(self, key: str, limit: int) -> None:
        """Ends a call that `acquire` let begin."""
        queue = self._queues[key]
        queue.running -= 1
        while queue.waiting and queue.running < self.share(limit):
            free = queue.waiting.popleft()
            if not free.done():
                queue.running += 1
                free.set_result(None)
        if not queue.running and not queue.waiting:
            del self._queues[key]

    @asynccontextmanager
    async def slot(self, key: str, limit: int) -> AsyncIterator[None]:
        """A slot for as long as the block runs."""
        await self.acquire(key, limit)
        try:
            yield
        finally:
            self.release(key, limit)


@dataclass(eq=False)
class ReadLimiter:
    """Gives polls and downloads slots of their credential: they count against the same limit as messages."""

    slots: ConcurrencyLimiter

    @asynccontextmanager
    async def slot(self, instance: Instance, channel: AnyChannel) -> AsyncIterator[None]:
        """A slot for as long as the block runs."""
        limits = known_limits(instance, channel, reading=True)
        if limits is None:
            yield
            return
        async with self.slots.slot(account_key(instance.channel_id, limits), limits.max_concurrency):
            yield


def known_limits(
    instance: Instance, channel: AnyChannel, target: Target | None = None, *, reading: bool = False
) -> Limits | None:
    """The limits of what is sent with the configured credential, or read with it. None if the channel knows none or
    cannot tell them: it is taken for one without limits."""
    try:
        config = channel.config.load(instance.config)
        if reading and channel.read_limits:
            return channel.read_limits.read_limits(config)
        return channel.limits.limits(config, channel.target.load(target or {})) if channel.limits else None
    except Exception:
        log.exception("a channel could not tell its limits", extra={"instance": instance.id})
        return None
