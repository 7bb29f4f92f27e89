"""Between two polls, waits for the platform to tell of news (IMAP IDLE)."""

from __future__ import annotations

import asyncio
import logging

from domain.polling.rules import interval
from ports.channels import Channels, PollFailed, Polls, Watches
from ports.schedules import ScheduleStore
from ports.storage import InstanceStore

log = logging.getLogger(__name__)

SHORTEST = 10.0
"""Seconds; instances that are polled more often than this are not watched."""


class Watchers:
    """One watch per instance in this process, begun by the poll that this process made."""

    def __init__(self, instances: InstanceStore, channels: Channels, schedules: ScheduleStore) -> None:
        self._instances = instances
        self._channels = channels
        self._schedules = schedules
        self._running: dict[int, asyncio.Task[None]] = {}

    def begin(self, instance_id: int) -> None:
        """Watches until there is news or the interval has passed; then the instance is polled."""
        if instance_id not in self._running:
            task = asyncio.create_task(self._watch(instance_id))
            self._running[instance_id] = task
            task.add_done_callback(lambda _: self._running.pop(instance_id, None))

    async def stop(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, instance_id: int) -> None:
        instance = await self._instances.find(instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        if instance is None or not isinstance(channel, Watches) or not isinstance(channel, Polls):
            return
        seconds = interval(instance.config, channel.default_interval_minutes).total_seconds()
        if seconds < SHORTEST:
            return
        try:
            await channel.watch(instance.config, seconds)
        except PollFailed as failed:
            log.info("watching ended, polling goes on: %s", failed, extra={"instance": instance_id})
        else:
            await self._schedules.due_now(instance_id)
