"""Leases queues and works them off, many at a time, none twice."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from adapters.inbound.jobs.queue.slots import SlotAllocator
from adapters.tasks import cancelled, end
from domain.refusals import StorageAway, Unavailable
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
CONTENDED_SECONDS = 0.01
"""Until the next lease, where queues were due and none was leased: another worker was just leasing them."""
GATHER_SECONDS = 0.005
BUSY = 32
"""While so many queues are worked on, wake-ups are gathered for a moment: a lease takes as much CPU as some messages,
and so it brings more of them."""
RETRY_SECONDS = 1.0
LONGEST_RETRY = 300.0
"""Seconds after which a queue is leased again whose work failed, over and over, without an outcome."""
MOST_FAILURES = 10_000
"""So many queues are remembered whose work failed."""
RELEASE_SECONDS = 0.5
"""What releasing may take when the process stops: a lease that is not released is freed with its owner's lock."""
RELEASE_TRIES = 30
"""After so many seconds without the database a lease has expired by itself."""


class HasKey(Protocol):
    @property
    def key(self) -> QueueKey: ...


class Waits(Protocol):
    async def wait(self, seconds: float) -> None: ...

    def wake(self) -> None: ...


L = TypeVar("L", bound=HasKey)


def _nothing_throttled() -> Mapping[int, int]:
    return {}


class Backoff:
    """What fails at once must not take a slot, and a line in the log, every second."""

    def __init__(self) -> None:
        self._failures: dict[QueueKey, int] = {}

    def failed(self, key: QueueKey) -> float:
        """Seconds until the next try."""
        if len(self._failures) >= MOST_FAILURES:
            self._failures.clear()
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return float(min(LONGEST_RETRY, RETRY_SECONDS * 2 ** min(failures - 1, 16)))

    def succeeded(self, key: QueueKey) -> None:
        self._failures.pop(key, None)


class LeaseReleaser:
    """Releases leases. One that cannot be released expires by itself."""

    def __init__(self, name: str, release: Callable[[QueueKey, float], Awaitable[None]]) -> None:
        self._name = name
        self._release = release
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopping = False

    async def release(self, key: QueueKey, delay: float = 0.0, tries: int = 1) -> None:
        """For `delay` seconds later. Repeated while the database is away."""
        for left in reversed(range(tries)):
            try:
                return await self._release(key, delay)
            except Unavailable:
                if not left or self.stopping:
                    break
            except Exception:
                log.exception("%s: a lease could not be released; it expires by itself", self._name)
                return None
            await asyncio.sleep(RETRY_SECONDS)
        log.debug("%s: a lease could not be released; it expires by itself", self._name)
        return None

    def release_soon(self, key: QueueKey) -> None:
        task = asyncio.create_task(self.release(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)


class QueueWorker(Generic[L]):
    """Works on events or on messages; the `ports.queue.LocalWorker` for them.

    `concurrency` is how many queues are worked on at once; `SlotAllocator` shares them out. `reclaim` frees what was
    leased in this process's name but is not among the given queues: called after an outage, in which the answer to a
    lease may be lost.
    """

    def __init__(
        self,
        name: str,
        lease: Callable[[Capacity], Awaitable[Leases[L]]],
        work: Callable[[L], Awaitable[None]],
        release: Callable[[QueueKey, float], Awaitable[None]],
        reclaim: Callable[[Collection[QueueKey]], Awaitable[None]],
        wakeup: Waits,
        *,
        concurrency: int = 256,
        throttled: Callable[[], Mapping[int, int]] = _nothing_throttled,
    ) -> None:
        self._name = name
        self._lease = lease
        self._work = work
        self._releaser = LeaseReleaser(name, release)
        self._reclaim = reclaim
        self._wakeup = wakeup
        self.slots = SlotAllocator(concurrency, throttled)
        self.tasks: dict[asyncio.Task[None], QueueKey] = {}
        self._backoff = Backoff()
        self._away = False
        self._lease_uncertain = False
        self._accepts_offers = False
        self._stopping = False

    @property
    def held(self) -> set[QueueKey]:
        """The queues that are worked on or about to be: the only leases of ours that may be prolonged."""
        return {*self.tasks.values(), *self.slots.reserved}

    @property
    def has_capacity(self) -> bool:
        return self._accepts_offers and self.slots.has_capacity

    def offer(self, key: QueueKey) -> bool:
        return self._accepts_offers and not self._lease_uncertain and self.slots.reserve(key)

    def take(self, leased: L) -> None:
        """Starts in a moment, so that those who wait for the commit come first."""
        asyncio.get_running_loop().call_soon(self._start_reserved, leased)

    def decline(self, keys: Iterable[QueueKey], *, lease_uncertain: bool) -> None:
        for key in keys:
            if self.slots.cancel(key):
                self._wakeup.wake()
        if lease_uncertain:
            self._lease_uncertain = True
            self._wakeup.wake()

    def _start_reserved(self, leased: L) -> None:
        self.slots.cancel(leased.key)
        if self._stopping:
            self._releaser.release_soon(leased.key)
        else:
            self._start(leased)

    async def run(self) -> None:
        """Runs until `stop`; an outage of the database is waited out."""
        self._accepts_offers = True
        while not (self._stopping or cancelled()):
            if pause := await self._next():
                await self._wakeup.wait(pause)
            if len(self.tasks) >= BUSY and not self._stopping:
                await asyncio.sleep(GATHER_SECONDS)

    async def _next(self) -> float:
        """Leases once; seconds until the next lease, where nothing wakes the worker before."""
        try:
            if self._lease_uncertain:
                await self._reclaim_uncertain()
            pause = await self._lease_due()
        except Exception as error:
            if not self._away:
                is_outage = isinstance(error, Unavailable)
                level, cause = (logging.WARNING, None) if is_outage else (logging.ERROR, error)
                log.log(
                    level, "%s: nothing can be leased, waiting for the database", self._name, exc_info=cause
                )
            self._away = self._lease_uncertain = True
            return SWEEP_SECONDS
        if self._away:
            log.info("%s: the database is back", self._name)
        self._away = False
        return pause

    async def _reclaim_uncertain(self) -> None:
        """No offer is accepted meanwhile: what is leased in this moment would be reclaimed as well."""
        self._lease_uncertain, self._accepts_offers = False, False
        await self._reclaim(self.held)
        self._accepts_offers = not self._stopping

    async def _lease_due(self) -> float:
        capacity = self.slots.capacity()
        if capacity.total <= 0:
            return SWEEP_SECONDS
        self.slots.request(capacity)
        leases: Leases[L] = Leases((), more=False)
        try:
            leases = await self._lease(capacity)
        finally:
            keys = [leased.key for leased in leases.leased]
            freed = self.slots.fulfil(capacity, keys, more=leases.more)
        for leased in leases.leased:
            if self._stopping:
                await self._releaser.release(leased.key)
            elif self.slots.is_full(leased.key.instance_id, leased.key.user_id):
                self._releaser.release_soon(leased.key)
            else:
                self._start(leased)
        if self._stopping or not leases.more:
            return SWEEP_SECONDS
        return 0.0 if leases.leased or freed else CONTENDED_SECONDS

    def _start(self, leased: L) -> None:
        self.slots.acquire(leased.key)
        task = asyncio.create_task(self._work_on(leased))
        self.tasks[task] = leased.key
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self.slots.release(self.tasks.pop(task)):
            self._wakeup.wake()

    async def _work_on(self, leased: L) -> None:
        try:
            await self._work(leased)
            self._backoff.succeeded(leased.key)
        except asyncio.CancelledError:
            await self._releaser.release(leased.key)
            raise
        except StorageAway:
            log.warning("%s: the database went away during work, which is repeated", self._name)
            await self._releaser.release(leased.key, RETRY_SECONDS, RELEASE_TRIES)
        except Exception:
            delay = self._backoff.failed(leased.key)
            log.exception("%s: work on a queue failed; it is repeated in %d s", self._name, delay)
            await self._releaser.release(leased.key, delay, RELEASE_TRIES)

    async def stop(self, grace: float) -> None:
        """Leases no more; waits `grace` seconds for what is under way, then releases it."""
        self._stopping = self._releaser.stopping = True
        self._accepts_offers = False
        self._wakeup.wake()
        if self.tasks:
            _, unfinished = await asyncio.wait(self.tasks, timeout=grace)
            await end([*unfinished, *self.tasks], self._name, RELEASE_SECONDS)
        await self._releaser.wait(RELEASE_SECONDS)
