"""Takes leased lanes and works them off, many at a time, none twice."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from adapters.inbound.jobs.slots import SlotAllocator
from adapters.tasks import cancelled, end
from domain.refusals import StorageAway, Unavailable
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
CONTENDED_SECONDS = 0.01
"""Until the next look, where lanes waited and none was got: another worker was about them, or has them by now."""
GATHER_SECONDS = 0.005
BUSY = 32
"""While so many lanes are worked on, what wakes the loop is gathered for a moment: a look takes as much CPU as some
messages, and so it brings more of them."""
RETRY_SECONDS = 1.0
LONGEST_RETRY = 300.0
"""Seconds after which a lane is taken up again whose work failed, over and over, without an outcome."""
MANY_FAILURES = 10_000
"""So many lanes are remembered whose work failed."""
GIVE_BACK_SECONDS = 0.5
"""What giving back may take when the process stops: a lease that is not given back is freed with its owner's lock."""
GIVE_BACK_TRIES = 30
"""After so many seconds without the database a lease has run out by itself."""


class HasKey(Protocol):
    @property
    def key(self) -> QueueKey: ...


class Waits(Protocol):
    async def wait(self, seconds: float) -> None: ...

    def wake(self) -> None: ...


L = TypeVar("L", bound=HasKey)


def _all_open() -> Mapping[int, int]:
    return {}


class QueueWorker(Generic[L]):
    """One of the two loops of a worker, and the `ports.queue.LocalWorker` for its kind of lanes.

    `concurrency` is how many lanes are worked on at once; `SlotAllocator` shares them out. `reclaim` frees what was
    leased in this process's name but is not among the given lanes: called after an outage, in which the answer to a
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
        throttled: Callable[[], Mapping[int, int]] = _all_open,
    ) -> None:
        self._name = name
        self._lease = lease
        self._work = work
        self._release = release
        self._reclaim = reclaim
        self._wakeup = wakeup
        self._places = SlotAllocator(concurrency, throttled)
        self._tasks: dict[asyncio.Task[None], QueueKey] = {}
        self._handed_back: set[asyncio.Task[None]] = set()
        self._failures: dict[QueueKey, int] = {}
        self._lease_uncertain = False
        self._offers = False
        self._stopping = False

    @property
    def held(self) -> set[QueueKey]:
        """The lanes that are being worked on or about to be: the only leases of ours that may be prolonged."""
        return {*self._tasks.values(), *self._places.kept}

    def offer(self, key: QueueKey) -> bool:
        return self._offers and not self._lease_uncertain and self._places.reserve(key)

    def take(self, leased: L) -> None:
        """Starts in a moment, so that those who wait for the commit come first."""
        asyncio.get_running_loop().call_soon(self._taken, leased)

    def decline(self, keys: Iterable[QueueKey], *, lease_uncertain: bool) -> None:
        for key in keys:
            if self._places.cancel(key):
                self._wakeup.wake()
        if lease_uncertain:
            self._lease_uncertain = True
            self._wakeup.wake()

    def _taken(self, leased: L) -> None:
        self._places.cancel(leased.key)
        if not self._stopping:
            return self._start(leased)
        return self._hand_back(leased)

    def _hand_back(self, leased: L) -> None:
        task = asyncio.create_task(self._give_back(leased, 0.0, tries=1))
        self._handed_back.add(task)
        task.add_done_callback(self._handed_back.discard)

    async def run(self) -> None:
        """Runs until `stop`; an outage of the database is waited out."""
        away, self._offers = False, True
        while not (self._stopping or cancelled()):
            try:
                if self._lease_uncertain:
                    await self._reclaimed()
                pause = await self._take()
                if away:
                    log.info("%s: the database is back", self._name)
                away = False
            except Unavailable:
                if not away:
                    log.warning("%s: the database is away, waiting", self._name)
                away, pause, self._lease_uncertain = True, SWEEP_SECONDS, True
            except Exception:
                if not away:
                    log.exception("%s: nothing can be leased, waiting", self._name)
                away, pause, self._lease_uncertain = True, SWEEP_SECONDS, True
            if pause:
                await self._wakeup.wait(pause)
            if len(self._tasks) >= BUSY and not self._stopping:
                await asyncio.sleep(GATHER_SECONDS)

    async def _reclaimed(self) -> None:
        """Nothing is offered meanwhile: what gets leased in this moment would be reclaimed as well."""
        self._lease_uncertain, self._offers = False, False
        await self._reclaim(self.held)
        self._offers = not self._stopping

    async def _take(self) -> float:
        """Takes what there is room for; seconds until the next look, where nothing rings before."""
        room = self._places.room()
        if room.total <= 0:
            return SWEEP_SECONDS
        self._places.ask(room)
        leases: Leases[L] = Leases((), more=False)
        try:
            leases = await self._lease(room)
        finally:
            left = self._places.answered(room, [each.key for each in leases.leased], more=leases.more)
        if self._stopping:
            for each in leases.leased:
                await self._give_back(each, 0.0, tries=1)
            return SWEEP_SECONDS
        for each in leases.leased:
            if self._places.full(each.key.instance_id, each.key.user_id):
                self._hand_back(each)
            else:
                self._start(each)
        if not leases.more:
            return SWEEP_SECONDS
        return 0.0 if leases.leased or left else CONTENDED_SECONDS

    def _start(self, leased: L) -> None:
        self._places.acquire(leased.key)
        task = asyncio.create_task(self._worked(leased))
        self._tasks[task] = leased.key
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._places.release(self._tasks.pop(task)):
            self._wakeup.wake()

    async def _worked(self, leased: L) -> None:
        try:
            await self._work(leased)
            self._failures.pop(leased.key, None)
        except asyncio.CancelledError:
            await self._give_back(leased, 0.0, tries=1)
            raise
        except StorageAway:
            log.warning("%s: the database went away during work; it is taken up again", self._name)
            await self._give_back(leased, RETRY_SECONDS)
        except Exception:
            delay = self._back_off(leased.key)
            log.exception("%s: work on a lane failed; it is taken up again in %d s", self._name, delay)
            await self._give_back(leased, delay)

    def _back_off(self, key: QueueKey) -> float:
        """Seconds until the next try: what fails at once must not take a place, and the log, every second."""
        if len(self._failures) >= MANY_FAILURES:
            self._failures.clear()
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return float(min(LONGEST_RETRY, RETRY_SECONDS * 2 ** min(failures - 1, 16)))

    async def _give_back(self, leased: L, delay: float, tries: int = GIVE_BACK_TRIES) -> None:
        for left in reversed(range(tries)):
            try:
                return await self._release(leased.key, delay)
            except Unavailable:
                if not left or self._stopping:
                    break
            except Exception:
                log.exception("%s: a lease could not be given back; it runs out by itself", self._name)
                return None
            await asyncio.sleep(RETRY_SECONDS)
        log.debug("%s: a lease could not be given back; it runs out by itself", self._name)
        return None

    async def stop(self, grace: float) -> None:
        """Takes no more; waits `grace` seconds for what is under way, then gives it back."""
        self._stopping, self._offers = True, False
        self._wakeup.wake()
        if self._tasks:
            _, unfinished = await asyncio.wait(self._tasks, timeout=grace)
            await end([*unfinished, *self._tasks], self._name, GIVE_BACK_SECONDS)
        if self._handed_back:
            await asyncio.wait(self._handed_back, timeout=GIVE_BACK_SECONDS)
