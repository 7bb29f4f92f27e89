"""Between two polls, waits for the platform to tell of news (IMAP IDLE)."""

import logging

from adapters.inbound.jobs.instance_tasks import InstanceTasks
from domain.channels.typed import ChannelConfig
from domain.instances.model import Instance
from domain.polling.model import interval
from ports.capabilities import PollFailed, PushWatcher
from ports.channels import Channels
from ports.instances import InstanceLookup, ScheduleStore

log = logging.getLogger(__name__)

SHORTEST = 10.0
"""Seconds; instances that are polled more often than this are not watched."""


class Watchers:
    """One watch per instance in this process, begun by the poll that this process made."""

    def __init__(self, instances: InstanceLookup, channels: Channels, schedules: ScheduleStore) -> None:
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
