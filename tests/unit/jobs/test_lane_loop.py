"""The worker's loop over leased lanes: what it holds, and giving back when the database goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pytest

from adapters.inbound.jobs import lane_loop
from adapters.inbound.jobs.lane_loop import LaneLoop
from domain.refusals import Unavailable
from ports.storage import Lane


@dataclass(frozen=True)
class Leased:
    lane: Lane


class Bell:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        await asyncio.wait_for(self._rung.wait(), 10)
        self._rung.clear()

    def ring(self) -> None:
        self._rung.set()


class World:
    """One lane to lease; work fails with `failure`; giving back fails `outages` times first."""

    def __init__(self, failure: Exception | None, outages: int = 0) -> None:
        self.failure = failure
        self.outages = outages
        self.to_lease = [Leased(Lane(1, "a"))]
        self.given_back = asyncio.Event()
        self.returned: list[tuple[Lane, float]] = []
        self.tries = 0
        self.gave_up = asyncio.Event()
        self.working = asyncio.Event()
        self.go_on = asyncio.Event()
        self.lease_failures: list[Exception] = []
        self.reclaimed: list[set[Lane]] = []
        self.bell = Bell()
        self.loop: LaneLoop[Leased] = LaneLoop(
            "test", self.lease, self.work, self.release, self.reclaim, self.bell
        )

    async def lease(self, count: int, busy: Sequence[int]) -> Sequence[Leased]:
        if self.lease_failures:
            self.bell.ring()
            raise self.lease_failures.pop()
        leased, self.to_lease = self.to_lease[:count], self.to_lease[count:]
        return leased

    async def reclaim(self, held: Collection[Lane]) -> None:
        self.reclaimed.append(set(held))

    async def work(self, leased: Leased) -> None:
        self.working.set()
        await self.go_on.wait()
        if self.failure:
            raise self.failure

    async def release(self, lane: Lane, delay: float) -> None:
        if self.outages:
            self.outages -= 1
            self.tries += 1
            if self.tries == lane_loop.GIVE_BACK_TRIES:
                self.gave_up.set()
            raise Unavailable("away")
        self.returned.append((lane, delay))
        self.given_back.set()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_loop, "RETRY_SECONDS", 0.0)


async def test_a_lane_is_held_while_it_is_worked_on() -> None:
    world = World(None)
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    assert world.loop.held == {Lane(1, "a")}
    world.go_on.set()
    await world.loop.stop(1)
    await running
    assert world.loop.held == set()
    assert world.returned == []


@pytest.mark.parametrize("failure", [Unavailable("away"), ValueError("a fault")])
async def test_a_lane_is_given_back_once_the_database_is_there_again(failure: Exception) -> None:
    world = World(failure, outages=3)
    running = asyncio.create_task(world.loop.run())
    world.go_on.set()
    await asyncio.wait_for(world.given_back.wait(), 10)
    assert world.returned == [(Lane(1, "a"), 0.0)]
    await world.loop.stop(1)
    await running
    assert world.loop.held == set()


async def test_giving_back_ends_when_the_lease_has_run_out_anyway() -> None:
    world = World(Unavailable("away"), outages=10**9)
    running = asyncio.create_task(world.loop.run())
    world.go_on.set()
    await asyncio.wait_for(world.gave_up.wait(), 10)
    await world.loop.stop(1)
    await running
    assert world.outages == 10**9 - lane_loop.GIVE_BACK_TRIES


async def test_stopping_does_not_wait_for_a_database_that_is_away() -> None:
    world = World(None, outages=10**9)
    running = asyncio.create_task(world.loop.run())
    await world.working.wait()
    await asyncio.wait_for(world.loop.stop(0.01), 10)
    await running
    assert world.outages == 10**9 - 1


async def test_after_an_outage_lost_leases_are_reclaimed_before_new_ones_are_taken() -> None:
    world = World(None)
    world.lease_failures = [Unavailable("away"), Unavailable("away")]
    running = asyncio.create_task(world.loop.run())
    await asyncio.wait_for(world.working.wait(), 10)
    assert world.reclaimed == [set(), set()]
    world.go_on.set()
    await world.loop.stop(1)
    await running
