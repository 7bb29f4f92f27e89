"""The worker's loop over leased queues: what it holds, and releasing when the database goes away."""

import asyncio
import contextlib
from collections.abc import Collection
from dataclasses import dataclass

import pytest

from adapters.inbound.jobs import queue_worker
from adapters.inbound.jobs.queue_worker import QueueWorker
from domain.refusals import StorageAway
from ports.queue import Capacity, Leases, QueueKey


@dataclass(frozen=True)
class Leased:
    key: QueueKey


class Wakeup:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        await asyncio.wait_for(self._rung.wait(), 30)
        self._rung.clear()

    def wake(self) -> None:
        self._rung.set()


class World:
    """One queue to lease; work fails with `failure`; releasing fails `outages` times first."""

    def __init__(self, failure: Exception | None, outages: int = 0) -> None:
        self.failure = failure
        self.outages = outages
        self.to_lease = [Leased(QueueKey(1, "a"))]
        self.given_back = asyncio.Event()
        self.returned: list[tuple[QueueKey, float]] = []
        self.tries = 0
        self.released_often = asyncio.Event()
        self.working = asyncio.Event()
        self.go_on = asyncio.Event()
        self.lease_failures: list[Exception] = []
        self.reclaimed: list[set[QueueKey]] = []
        self.wakeup = Wakeup()
        self.loop: QueueWorker[Leased] = QueueWorker(
            "test", self.lease, self.work, self.release, self.reclaim, self.wakeup
        )

    async def lease(self, capacity: Capacity) -> Leases[Leased]:
        if self.lease_failures:
            self.wakeup.wake()
            raise self.lease_failures.pop()
        leased, self.to_lease = self.to_lease[: capacity.total], self.to_lease[capacity.total :]
        return Leases(leased, more=False)

    async def reclaim(self, held: Collection[QueueKey]) -> None:
        self.reclaimed.append(set(held))

    async def work(self, leased: Leased) -> None:
        self.working.set()
        await self.go_on.wait()
        if self.failure:
            raise self.failure

    async def release(self, key: QueueKey, delay: float) -> None:
        if self.outages:
            self.outages -= 1
            self.tries += 1
            if self.tries == queue_worker.RELEASE_TRIES:
                self.released_often.set()
            raise StorageAway("away")
        self.returned.append((key, delay))
        self.given_back.set()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_worker, "RETRY_SECONDS", 0.0)


async def test_a_queue_is_held_while_it_is_worked_on() -> None:
    world = World(None)
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    assert world.loop.held == {QueueKey(1, "a")}
    world.go_on.set()
    await world.loop.stop(30)
    await running
    assert world.loop.held == set()
    assert world.returned == []


async def test_only_a_running_worker_has_capacity() -> None:
    world = World(None)
    assert not world.loop.has_capacity
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    assert world.loop.has_capacity
    world.go_on.set()
    await world.loop.stop(30)
    await running
    assert not world.loop.has_capacity


async def test_what_a_lease_brings_beyond_a_share_is_given_back() -> None:
    world, keys = World(None), [QueueKey(1, str(number), "ann") for number in range(65)]
    world.to_lease = [Leased(key) for key in keys]
    running = asyncio.create_task(world.loop.run())
    await asyncio.wait_for(world.given_back.wait(), 30)
    assert world.returned == [(keys[-1], 0.0)]
    assert world.loop.held == set(keys[:-1])
    world.go_on.set()
    await world.loop.stop(30)
    await running


@pytest.mark.parametrize("failure", [StorageAway("away"), ValueError("a fault")])
async def test_a_lease_is_released_once_the_database_is_there_again(failure: Exception) -> None:
    world = World(failure, outages=3)
    running = asyncio.create_task(world.loop.run())
    world.go_on.set()
    await asyncio.wait_for(world.given_back.wait(), 30)
    assert world.returned == [(QueueKey(1, "a"), 0.0)]
    await world.loop.stop(30)
    await running
    assert world.loop.held == set()


async def test_giving_back_ends_when_the_lease_has_run_out_anyway() -> None:
    world = World(StorageAway("away"), outages=10**9)
    running = asyncio.create_task(world.loop.run())
    world.go_on.set()
    await asyncio.wait_for(world.released_often.wait(), 30)
    await world.loop.stop(30)
    await running
    assert world.outages == 10**9 - queue_worker.RELEASE_TRIES


async def test_stopping_does_not_wait_for_a_database_that_is_away() -> None:
    world = World(None, outages=10**9)
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    await asyncio.wait_for(world.loop.stop(0.01), 30)
    await running
    assert world.outages == 10**9 - 1


async def test_what_is_leased_while_the_loop_stops_is_given_back() -> None:
    leasing, go_on = asyncio.Event(), asyncio.Event()

    class SlowlyLeasing(World):
        async def lease(self, capacity: Capacity) -> Leases[Leased]:
            leasing.set()
            await go_on.wait()
            return await super().lease(capacity)

    world = SlowlyLeasing(None)
    running = asyncio.create_task(world.loop.run())
    await leasing.wait()
    await world.loop.stop(30)
    go_on.set()
    await running
    assert world.returned == [(QueueKey(1, "a"), 0.0)]
    assert world.loop.held == set()


async def test_after_an_outage_lost_leases_are_reclaimed_before_new_ones_are_taken() -> None:
    world = World(None)
    world.lease_failures = [StorageAway("away"), StorageAway("away")]
    running = asyncio.create_task(world.loop.run())
    await asyncio.wait_for(world.working.wait(), 30)
    assert world.reclaimed == [set(), set()]
    world.go_on.set()
    await world.loop.stop(30)
    await running


class Crowd:
    """Lanes that wait, leased as the database does; work never ends by itself."""

    def __init__(self, keys: list[QueueKey], throttled: dict[int, int] | None = None) -> None:
        self.waiting = keys
        self.locked: set[QueueKey] = set()
        self.rooms: list[Capacity] = []
        self.wakeup = Wakeup()
        self.loop: QueueWorker[Leased] = QueueWorker(
            "test",
            self.lease,
            self.work,
            self.release,
            self.reclaim,
            self.wakeup,
            concurrency=16,
            throttled=lambda: throttled or {},
        )
        self.settled = asyncio.Event()

    async def lease(self, capacity: Capacity) -> Leases[Leased]:
        self.rooms.append(capacity)
        full = {each for each, left in {**capacity.instances, **capacity.users}.items() if left <= 0}
        seen = [key for key in self.waiting if not {key.instance_id, key.user_id} & full]
        left: dict[object, int] = {**capacity.instances, **capacity.users}
        taken = []
        for key in seen:
            of_instance = left.setdefault(key.instance_id, capacity.per_instance)
            of_user = left.setdefault(key.user_id, capacity.per_user)
            if len(taken) < capacity.total and of_instance > 0 and of_user > 0 and key not in self.locked:
                left[key.instance_id] -= 1
                left[key.user_id] -= 1
                self.waiting.remove(key)
                taken.append(Leased(key))
        if not taken:
            self.settled.set()
        return Leases(taken, more=len(taken) < len(seen))

    async def work(self, leased: Leased) -> None:
        await asyncio.Event().wait()

    async def release(self, key: QueueKey, delay: float) -> None:
        return

    async def reclaim(self, held: Collection[QueueKey]) -> None:
        return

    async def held(self) -> list[QueueKey]:
        running = asyncio.create_task(self.loop.run())
        self.wakeup.wake()
        await asyncio.wait_for(self.settled.wait(), 30)
        found = sorted(self.loop.held, key=lambda each: (each.instance_id, each.session_key))
        await self.loop.stop(0)
        await running
        return found


async def test_an_instance_gets_a_quarter_of_the_slots() -> None:
    busy = [QueueKey(1, str(number), "ann") for number in range(30)]
    crowd = Crowd([*busy, QueueKey(2, "x", "ann"), QueueKey(3, "y", "ann")])
    held = await crowd.held()
    assert sum(each.instance_id == 1 for each in held) == 4
    assert {2, 3} <= {each.instance_id for each in held}


async def test_a_user_gets_three_quarters_of_the_slots() -> None:
    busy = [QueueKey(number, str(number), "ann") for number in range(30)]
    crowd = Crowd([*busy, QueueKey(100, "x", "bob")])
    held = await crowd.held()
    assert sum(each.user_id == "ann" for each in held) == 12
    assert QueueKey(100, "x") in held


async def test_a_throttled_instance_gets_what_it_is_left() -> None:
    crowd = Crowd(
        [QueueKey(which, str(number), "ann") for number in range(9) for which in (1, 2, 3)], {1: 0, 2: 1}
    )
    held = await crowd.held()
    assert [sum(each.instance_id == which for each in held) for which in (1, 2, 3)] == [0, 1, 4]
    assert crowd.rooms[0].instances == {1: 0, 2: 1}


class Quick(Crowd):
    """Work ends at once, while the next lease is under way; a bell that nobody rings before the sweep fails."""

    def __init__(self, keys: list[QueueKey]) -> None:
        super().__init__(keys)
        self.all_done = asyncio.Event()
        self.left = len(keys)
        self.pauses: list[float] = []
        ring_or_fail = self.wakeup.wait

        async def wait(seconds: float) -> None:
            self.pauses.append(seconds)
            self.locked.clear()
            if seconds >= queue_worker.SWEEP_SECONDS:
                await ring_or_fail(seconds)

        self.wakeup.wait = wait  # type: ignore[method-assign]

    async def lease(self, capacity: Capacity) -> Leases[Leased]:
        leases = await super().lease(capacity)
        for _ in range(5):
            await asyncio.sleep(0)
        return leases

    async def work(self, leased: Leased) -> None:
        self.left -= 1
        if not self.left:
            self.all_done.set()

    async def worked_off(self) -> None:
        running = asyncio.create_task(self.loop.run())
        try:
            await asyncio.wait_for(self.all_done.wait(), 30)
        finally:
            await self.loop.stop(0)
            await running


async def test_one_instance_whose_work_ends_while_more_is_leased_is_worked_off_without_the_sweep() -> None:
    await Quick([QueueKey(1, str(number), "ann") for number in range(100)]).worked_off()


async def test_queues_that_another_worker_was_about_are_looked_for_again_in_a_moment() -> None:
    crowd = Quick([QueueKey(1, str(number), "ann") for number in range(3)])
    crowd.locked = set(crowd.waiting)
    await crowd.worked_off()
    assert crowd.pauses[0] == queue_worker.CONTENDED_SECONDS


async def test_queues_of_those_to_whom_nothing_is_left_are_not_looked_for_over_and_over() -> None:
    crowd = Crowd([QueueKey(1, str(number), "ann") for number in range(30)])
    await crowd.held()
    assert [capacity.instances.get(1) for capacity in crowd.rooms] == [None, 2, 0]


@pytest.mark.parametrize(("held", "at_once"), [(queue_worker.BUSY - 1, True), (queue_worker.BUSY, False)])
async def test_a_busy_worker_gathers_what_wakes_it(
    held: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_worker, "GATHER_SECONDS", 3600.0)
    world = World(None)
    world.to_lease = [Leased(QueueKey(number, "x", f"user {number}")) for number in range(held)]
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    one_more = QueueKey(1000, "x", "user")
    world.to_lease = [Leased(one_more)]
    world.wakeup.wake()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (one_more in world.loop.held) is at_once
    world.go_on.set()
    await world.loop.stop(30)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_a_queue_whose_work_keeps_failing_is_taken_up_ever_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It must not take a slot, and a line in the log, every second."""
    monkeypatch.setattr(queue_worker, "RETRY_SECONDS", 1.0)
    world, other = World(ValueError("a fault")), QueueKey(2, "b")
    running = asyncio.create_task(world.loop.run())
    world.go_on.set()

    async def failing_again(key: QueueKey) -> float:
        world.given_back.clear()
        world.to_lease = [Leased(key)]
        world.wakeup.wake()
        await asyncio.wait_for(world.given_back.wait(), 30)
        return world.returned[-1][1]

    delays = [await failing_again(QueueKey(1, "a")) for _ in range(10)]
    assert delays == sorted(delays)
    assert len(set(delays[:8])) == 8
    assert delays[-1] == queue_worker.LONGEST_RETRY
    assert await failing_again(other) == 1.0, "others are not slowed down"
    await world.loop.stop(30)
    await running


@pytest.mark.parametrize("failure", [ValueError("a row that cannot be read"), StorageAway("away")])
async def test_a_lease_that_fails_ends_nothing(failure: Exception) -> None:
    world = World(None)
    world.lease_failures = [failure]
    running = asyncio.create_task(world.loop.run())
    await asyncio.wait_for(world.working.wait(), 30)
    assert world.reclaimed == [set()], "what the lost answer leased is taken back"
    world.go_on.set()
    await world.loop.stop(30)
    await running


async def test_a_lease_that_cannot_be_given_back_is_left_to_run_out() -> None:
    world = World(ValueError("a fault"))
    failing = asyncio.Event()

    async def release(key: QueueKey, delay: float) -> None:
        failing.set()
        raise ValueError("no")

    worker = QueueWorker("test", world.lease, world.work, release, world.reclaim, world.wakeup)
    running = asyncio.create_task(worker.run())
    world.go_on.set()
    await asyncio.wait_for(failing.wait(), 30)
    await worker.stop(30)
    await running
    assert worker.held == set()
