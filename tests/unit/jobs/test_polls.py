"""Runs of instances, ended when the instance changes."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from adapters.inbound.jobs.periodic import PollRuns
from adapters.outbound.channels.tests.support import NOW
from domain.instances.model import Instance
from domain.refusals import Unavailable

INSTANCE = Instance(7, "u", "email", "n", {}, None, NOW, NOW)


class World:
    """The polling service and the instances in one; a run lasts until `answered`."""

    def __init__(self) -> None:
        self.stored: Instance | None = INSTANCE
        self.away = False
        self.answered = asyncio.Event()
        self.ended: list[str] = []
        self.done: list[int] = []
        self.failure: Exception | None = None
        anything: Any = self
        self.runs = PollRuns(anything, anything, lambda instance: self.done.append(instance.id))

    async def find(self, instance_id: int) -> Instance | None:
        if self.away:
            raise Unavailable("away")
        return self.stored if instance_id == 7 else None

    async def run(self, instance_id: int) -> None:
        try:
            await self.answered.wait()
            if self.failure:
                raise self.failure
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("done")

    async def begun(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self.runs.run(7))
        await settled()
        return task


async def settled() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


async def test_a_run_that_comes_to_its_end_is_told() -> None:
    world = World()
    job = await world.begun()
    world.answered.set()
    await job
    assert (world.ended, world.done) == (["done"], [7])


@pytest.mark.parametrize("now", ["changed", "removed"])
async def test_a_change_or_a_removal_ends_the_run_at_once(now: str) -> None:
    world = World()
    job = await world.begun()
    changed = replace(INSTANCE, updated_at=NOW + timedelta(seconds=1))
    world.stored = changed if now == "changed" else None
    world.runs.changed(7)
    await asyncio.wait_for(job, 30)
    assert (world.ended, world.done) == (["cancelled"], [])


async def test_other_news_of_it_leaves_the_run_alone() -> None:
    world = World()
    job = await world.begun()
    world.runs.changed(8)
    world.runs.changed(7)
    world.runs.changed(None)
    await settled()
    world.away, world.stored = True, None
    world.runs.changed(7)
    await settled()
    assert world.ended == []
    world.answered.set()
    await job
    assert world.ended == ["done"]


async def test_a_job_that_takes_too_long_ends_its_run() -> None:
    world = World()
    job = await world.begun()
    job.cancel()
    await asyncio.gather(job, return_exceptions=True)
    assert (job.cancelled(), world.ended, world.done) == (True, ["cancelled"], [])


async def test_a_run_that_fails_is_told_to_the_queue() -> None:
    world = World()
    world.failure = Unavailable("the database is away")
    world.answered.set()
    with pytest.raises(Unavailable):
        await world.runs.run(7)
    assert world.done == []


async def test_an_instance_that_is_gone_is_not_run() -> None:
    world = World()
    await world.runs.run(8)
    assert (world.ended, world.done) == ([], [])
