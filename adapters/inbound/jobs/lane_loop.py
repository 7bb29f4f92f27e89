"""Takes leased lanes and works them off, many at a time, none twice."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from domain.refusals import Unavailable
from ports.storage import Lane, Room

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
K = TypeVar("K")


def _all_open() -> Mapping[int, int]:
    return {}


class LaneLoop(Generic[L]):
    """One of the two loops of a worker.

    `concurrency` is how many lanes are worked on at once. Of these a quarter may belong to one instance and
    three quarters to one user, so that nobody takes all places; `restrained` names instances that get fewer
    for the moment. `reclaim` frees what was leased in this process's name but is not among the given lanes:
    called after an outage, in which the answer to a lease may be lost.
    """

    def __init__(
        self,
        name: str,
        lease: Callable[[Room], Awaitable[Sequence[L]]],
        work: Callable[[L], Awaitable[None]],
        release: Callable[[Lane, float], Awaitable[None]],
        reclaim: Callable[[Collection[Lane]], Awaitable[None]],
        bell: Waits,
        *,
        concurrency: int = 256,
        restrained: Callable[[], Mapping[int, int]] = _all_open,
    ) -> None:
        self._name = name
        self._lease = lease
        self._work = work
        self._release = release
        self._reclaim = reclaim
        self._bell = bell
        self._concurrency = concurrency
        self._per_instance = max(1, concurrency // 4)
        self._per_user = max(1, concurrency * 3 // 4)
        self._restrained = restrained
        self._tasks: dict[asyncio.Task[None], Lane] = {}
        self._instances: Counter[int] = Counter()
        self._users: Counter[str] = Counter()
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
        room = self._room()
        if room.lanes <= 0:
            return False
        leased = await self._lease(room)
        if self._stopping:
            for lane in leased:
                await self._give_back(lane, 0.0, tries=1)
            return False
        for lane in leased:
            self._start(lane)
        return len(leased) >= room.lanes or (bool(leased) and _full(self._room()) > _full(room))

    def _room(self) -> Room:
        """Those that hold little are not named: they may exceed their share by half of it, which saves naming all."""
        instances = {
            each: self._per_instance - count
            for each, count in self._instances.items()
            if 2 * count > self._per_instance
        }
        for instance_id, most in self._restrained().items():
            left = most - self._instances[instance_id]
            instances[instance_id] = min(left, instances.get(instance_id, left))
        users = {
            each: self._per_user - count for each, count in self._users.items() if 2 * count > self._per_user
        }
        return Room(
            self._concurrency - len(self._tasks), self._per_instance, self._per_user, instances, users
        )

    def _start(self, leased: L) -> None:
        lane = leased.lane
        self._instances[lane.instance_id] += 1
        self._users[lane.user_id] += 1
        task = asyncio.create_task(self._worked(leased))
        self._tasks[task] = lane
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        lane = self._tasks[task]
        crowded = (
            len(self._tasks) >= self._concurrency
            or self._instances[lane.instance_id] >= self._per_instance
            or self._users[lane.user_id] >= self._per_user
            or lane.instance_id in self._restrained()
        )
        del self._tasks[task]
        _less(self._instances, lane.instance_id)
        _less(self._users, lane.user_id)
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


def _full(room: Room) -> int:
    """How many instances and users get nothing more."""
    return sum(left <= 0 for shares in (room.instances, room.users) for left in shares.values())


def _less(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
