"""Watching between two polls."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from adapters.inbound.jobs.watching import Watchers
from adapters.outbound.channels.tests.calls import a_channel
from adapters.outbound.channels.tests.support import NOW
from domain.instances.model import Instance
from ports.capabilities import Polled, PollFailed


class Mailbox:
    default_interval_minutes = 5.0

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.watched: list[float] = []
        self.failure: Exception | None = None

    async def poll(
        self, config: Any, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        raise AssertionError

    async def watch(self, config: Any, timeout: float) -> None:
        self.watched.append(timeout)
        if self.failure:
            raise self.failure
        await self.news.wait()


class World:
    """Instances, channels and schedules in one."""

    def __init__(self, channel: object, **config: Any) -> None:
        self.channel = channel
        self.instance = Instance(7, "u", "email", "n", config, None, NOW, NOW)
        self.stored: Instance | None = self.instance
        self.due: asyncio.Queue[int] = asyncio.Queue()

    async def find_instance(self, instance_id: int) -> Instance | None:
        return self.stored if instance_id == 7 else None

    async def due_now(self, instance_id: int) -> None:
        self.due.put_nowait(instance_id)

    def _channel(self) -> Any:
        watching = self.channel if hasattr(self.channel, "watch") else None
        return a_channel(poller=self.channel, push_watcher=watching)

    def watchers(self) -> Watchers:
        instances: Any = type("Instances", (), {"find": staticmethod(self.find_instance)})
        channels: Any = type("Channels", (), {"find": staticmethod(lambda _: self._channel())})
        schedules: Any = self
        return Watchers(instances, channels, schedules)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_news_makes_the_instance_due() -> None:
    mailbox = Mailbox()
    world = World(mailbox, checkInterval=2)
    watchers = world.watchers()
    watchers.begin(world.instance)
    watchers.begin(world.instance)
    await settled()
    assert mailbox.watched == [120.0]
    mailbox.news.set()
    assert await asyncio.wait_for(world.due.get(), 30) == 7
    await settled()
    watchers.begin(world.instance)
    await settled()
    assert len(mailbox.watched) == 2


async def test_a_watch_that_fails_leaves_it_to_the_interval() -> None:
    mailbox = Mailbox()
    mailbox.failure = PollFailed("no login", fatal=True)
    world = World(mailbox)
    world.watchers().begin(world.instance)
    await settled()
    assert (mailbox.watched, world.due.empty()) == ([300.0], True)


@pytest.mark.parametrize("channel", [object(), None])
async def test_other_channels_are_not_watched(channel: object) -> None:
    world = World(channel)
    world.watchers().begin(world.instance)
    await settled()
    assert world.due.empty()


async def test_quick_polls_need_no_watch() -> None:
    mailbox = Mailbox()
    world = World(mailbox, checkInterval=0.1)
    world.watchers().begin(world.instance)
    await settled()
    assert mailbox.watched == []


@pytest.mark.parametrize("now", ["changed", "removed"])
async def test_what_was_changed_or_removed_is_watched_no_more(now: str) -> None:
    mailbox = Mailbox()
    world = World(mailbox)
    watchers = world.watchers()
    watchers.begin(world.instance)
    await settled()
    watchers.changed(7)  # something else of it was written
    watchers.changed(8)
    await settled()
    watchers.begin(world.instance)
    assert len(mailbox.watched) == 1
    changed = replace(world.instance, updated_at=NOW + timedelta(seconds=1))
    world.stored = changed if now == "changed" else None
    watchers.changed(None)
    await settled()
    watchers.begin(changed)
    await settled()
    assert len(mailbox.watched) == 2
    mailbox.news.set()
    await asyncio.wait_for(world.due.get(), 30)
    await settled()
    assert world.due.empty()


async def test_stopping_ends_all_watches() -> None:
    mailbox = Mailbox()
    world = World(mailbox)
    watchers = world.watchers()
    watchers.begin(world.instance)
    await settled()
    await watchers.stop()
    assert world.due.empty()
