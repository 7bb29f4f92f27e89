"""Between two polls, waits for the platform to tell of news (IMAP IDLE).

Work that is done for an instance, and that ends when the instance is changed or removed.
"""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.tasks import end
from domain.channels.typed import ChannelConfig
from domain.instances.model import Instance
from domain.polling.model import interval
from domain.refusals import Unavailable
from ports.capabilities import PollFailed, PushWatcher
from ports.channels import Channels
from ports.instances import InstanceStore, ScheduleStore

log = logging.getLogger(__name__)

SHORTEST = 10.0
"""Seconds; instances that are polled more often than this are not watched."""


class Watchers:
    """One watch per instance in this process, begun by the poll that this process made."""

    def __init__(self, instances: InstanceStore, channels: Channels, schedules: ScheduleStore) -> None:
        self._channels = channels
        self._schedules = schedules
        self._tasks = InstanceTasks(instances)

    def begin(self, instance: Instance) -> None:
        """Watches until there is news or the interval has passed; then the instance is polled."""
        channel = self._channels.find(instance.channel_id)
        if channel is None or channel.push_watcher is None or channel.poller is None:
            return
        seconds = interval(instance.config, channel.poller.default_interval_minutes).total_seconds()
        if seconds >= SHORTEST and not self._tasks.has(instance.id):
            self._tasks.begin(
                instance,
                self._watch(instance, channel.push_watcher, channel.config.load(instance.config), seconds),
            )

    def changed(self, instance_id: int | None) -> None:
        """An instance (None: any) may have changed: what it was is watched no more."""
        self._tasks.changed(instance_id)

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _watch(
        self, instance: Instance, watcher: PushWatcher[ChannelConfig], config: ChannelConfig, seconds: float
    ) -> None:
        try:
            await watcher.watch(config, seconds)
        except PollFailed as failed:
            log.info("watching ended, polling goes on: %s", failed, extra={"instance": instance.id})
        else:
            await self._schedules.due_now(instance.id)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    instance_id: int
    version: datetime
    task: asyncio.Task[None]


class InstanceTasks:
    """Tasks of this process. Call `changed` for each instance that may have changed."""

    def __init__(self, instances: InstanceStore) -> None:
        self._instances = instances
        self._works: set[_Work] = set()
        self._checks: set[asyncio.Task[None]] = set()

    def begin(self, instance: Instance, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts `work`, which was made for the instance as it is here."""
        begun = _Work(instance.id, instance.updated_at, asyncio.create_task(work))
        self._works.add(begun)
        begun.task.add_done_callback(lambda _: self._works.discard(begun))
        return begun.task

    def has(self, instance_id: int) -> bool:
        """Return True if there is work for the instance."""
        return any(work.instance_id == instance_id for work in self._works)

    def changed(self, instance_id: int | None) -> None:
        """The instance, or any with None, may have changed: work for what it was is ended."""
        for id in {work.instance_id for work in self._works if instance_id in (None, work.instance_id)}:
            check = asyncio.get_running_loop().create_task(self._check(id))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)

    async def _check(self, instance_id: int) -> None:
        try:
            instance = await self._instances.find(instance_id)
        except Unavailable:
            return  # once the database is back, everything is told to be looked at again
        for work in tuple(self._works):
            if work.instance_id == instance_id and (instance is None or instance.updated_at != work.version):
                work.task.cancel()

    async def stop(self) -> None:
        """Ends all of it."""
        await end([*self._checks, *(work.task for work in self._works)], "work for instances")
