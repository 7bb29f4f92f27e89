"""The worker's loop over uploads: its places, and those beyond them for users who hold none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.inbound.jobs import uploads as upload_loop
from adapters.inbound.jobs.uploads import UploadLoop
from domain.refusals import Unavailable


class World:
    """Uploads as 'user file', each under way until it is let go. `settled`: the loop found nothing more."""

    def __init__(self, *waiting: str, places: int = 2) -> None:
        self.waiting = list(waiting)
        self.under_way: dict[str, asyncio.Event] = {}
        self.done: list[str] = []
        self.failures: list[Exception] = []
        self.settled = asyncio.Event()
        self.news = asyncio.Event()
        self.loop: UploadLoop[str] = UploadLoop(self.take, self.work, self.news, places)

    async def take(self, *, newcomers_only: bool) -> str | None:
        if self.failures:
            raise self.failures.pop()
        busy = {each.split()[0] for each in self.under_way}
        for upload in self.waiting:
            if not newcomers_only or upload.split()[0] not in busy:
                self.waiting.remove(upload)
                self.under_way[upload] = asyncio.Event()
                return upload
        self.settled.set()
        return None

    async def work(self, upload: str) -> None:
        try:
            await self.under_way[upload].wait()
        finally:
            del self.under_way[upload]
        if upload.endswith("bad"):
            raise RuntimeError("a fault of ours")
        self.done.append(upload)

    async def sent(self, *uploads: str) -> None:
        self.settled.clear()
        self.waiting += uploads
        self.news.set()
        await self.settled.wait()

    async def ended(self, upload: str) -> None:
        self.settled.clear()
        self.under_way[upload].set()
        await self.settled.wait()


@asynccontextmanager
async def running(world: World) -> AsyncIterator[World]:
    run = asyncio.create_task(world.loop.run())
    try:
        await asyncio.wait_for(world.settled.wait(), 30)
        yield world
    finally:
        await world.loop.stop()
        await asyncio.wait_for(run, 30)


async def test_one_users_large_files_fill_the_places_and_another_begins_all_the_same() -> None:
    async with running(World("ann 1", "ann 2", "ann 3", "ann 4")) as world:
        assert list(world.under_way) == ["ann 1", "ann 2"]
        await world.sent("bob 1", "bob 2")
        assert list(world.under_way) == ["ann 1", "ann 2", "bob 1"]
        await world.ended("bob 1")
        assert list(world.under_way) == ["ann 1", "ann 2", "bob 2"]
        await world.ended("ann 1")
        assert list(world.under_way) == ["ann 2", "bob 2"]
        await world.ended("bob 2")
        assert list(world.under_way) == ["ann 2", "ann 3"]


async def test_the_places_for_newcomers_are_as_many_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(World("ann 1", "ann 2", "bob 1")) as world:
        world.waiting += ["eve 1", "joe 1"]
        world.news.set()
        while len(world.under_way) < 4:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert world.waiting == ["joe 1"]


async def test_a_fault_and_an_outage_end_neither_the_loop_nor_its_places(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upload_loop, "AWAY", 0.0)
    world = World("ann bad", "ann 2", places=1)
    world.failures = [RuntimeError("odd"), Unavailable("the database is away", 1.0)]
    async with running(world):
        await world.ended("ann bad")
        await world.ended("ann 2")
    assert world.done == ["ann 2"]
    assert "a fault of ours" in caplog.text


async def test_what_is_under_way_stops_with_the_loop() -> None:
    async with running(World("ann 1")) as world:
        assert list(world.under_way) == ["ann 1"]
    assert (world.under_way, world.done) == ({}, [])
