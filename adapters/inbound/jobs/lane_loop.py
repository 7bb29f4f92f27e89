"""Takes leased lanes and works them off, many at a time, none twice."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from domain.refusals import Unavailable
from ports.storage import Lane

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
RETRY_SECONDS = 1.0
GIVE_BACK_TRIES = 30
"""After so many seconds without the database a lease has run out by itself."""


class HasLane(Protocol):
    @property
    def lane(self) -> Lane: ...


class Waits(Protocol):
    async def wait(self, seconds: float) -> None: ...

    def ring(self) -> None: ...


L = TypeVar("L", bound=HasLane)


class LaneLoop(Generic[L]):
    """One of the two loops of a worker.

    `concurrency` is how many lanes are worked on at once, `per_instance` how many of them may belong to one
    instance, so that a slow one does not take all places. `reclaim` frees what was leased in this process's
    name but is not among the given lanes: called after an outage, in which the answer to a lease may be lost.
    """

    def __init__(
        self,
        name: str,
        lease: Callable[[int, Sequence[int]], Awaitable[Sequence[L]]],
        work: Callable[[L], Awaitable[None]],
        release: Callable[[Lane, float], Awaitable[None]],
        reclaim: Callable[[Collection[Lane]], Awaitable[None]],
        bell: Waits,
        *,
        concurrency: int = 256,
        per_instance: int = 64,
    ) -> None:
        self._name = name
        self._lease = lease
        self._work = work
        self._release = release
        self._reclaim = reclaim
        self._bell = bell
        self._concurrency = concurrency
        self._per_instance = per_instance
        self._tasks: dict[asyncio.Task[None], Lane] = {}
        self._busy: Counter[int] = Counter()
        self._stopping = False

    @property
    def held(self) -> set[Lane]:
        """The lanes that are being worked on: the only leases of ours that may be prolonged."""
        return set(self._tasks.values())

    async def run(self) -> None:
        """Runs until `stop`; an outage of the database is waited out."""
        away = False
        while not self._stopping:
            try:
                if away:
                    await self._reclaim(self.held)
                idle = not await self._take()
                if away:
                    log.info("%s: the database is back", self._name)
                away = False
            except Unavailable:
                if not away:
                    log.warning("%s: the database is away, waiting", self._name)
                away, idle = True, True
            if idle:
                await self._bell.wait(SWEEP_SECONDS)

    async def _take(self) -> bool:
        """Takes what there is room for; whether there may be more."""
        room = self._concurrency - len(self._tasks)
        if room <= 0:
            return False
        full = [instance_id for instance_id, count in self._busy.items() if count >= self._per_instance]
        leased = await self._lease(room, full)
        for lane in leased:
            self._start(lane)
        return len(leased) >= room

    def _start(self, leased: L) -> None:
        self._busy[leased.lane.instance_id] += 1
        task = asyncio.create_task(self._worked(leased))
        self._tasks[task] = leased.lane
        task.add_done_callback(lambda done: self._ended(done, leased.lane.instance_id))

    def _ended(self, task: asyncio.Task[None], instance_id: int) -> None:
        crowded = len(self._tasks) >= self._concurrency or self._busy[instance_id] >= self._per_instance
        self._tasks.pop(task, None)
        self._busy[instance_id] -= 1
        if self._busy[instance_id] <= 0:
            del self._busy[instance_id]
        if crowded:
            self._bell.ring()

    async def _worked(self, leased: L) -> None:
        try:
            await self._work(leased)
        except asyncio.CancelledError:
            await self._give_back(leased, 0.0, tries=1)
            raise
        except Unavailable:
            log.warning("%s: the database went away during work; it is taken up again", self._name)
            await self._give_back(leased, RETRY_SECONDS)
        except Exception:
            log.exception("%s: work on a lane failed; it is taken up again", self._name)
            await self._give_back(leased, RETRY_SECONDS)

    async def _give_back(self, leased: L, delay: float, tries: int = GIVE_BACK_TRIES) -> None:
        for left in reversed(range(tries)):
            try:
                return await self._release(leased.lane, delay)
            except Unavailable:
                if not left or self._stopping:
                    break
            await asyncio.sleep(RETRY_SECONDS)
        log.debug("%s: a lease could not be given back; it runs out by itself", self._name)
        return None

    async def stop(self, grace: float) -> None:
        """Takes no more; waits `grace` seconds for what is under way, then gives it back."""
        self._stopping = True
        self._bell.ring()
        if self._tasks:
            _, unfinished = await asyncio.wait(self._tasks, timeout=grace)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
