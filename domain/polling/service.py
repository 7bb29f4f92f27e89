"""What runs by the clock: polls of mailboxes, folders and records, and firings of schedules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from domain.channels.messages import Event
from domain.channels.typed import ChannelConfig
from domain.delivery.reads.service import ReadLimiter
from domain.instances.health import UNDECRYPTED
from domain.instances.model import UNREADABLE, Activity, Instance
from domain.polling.rules import back_off, interval
from domain.refusals import Refusal, StorageAway, Unavailable
from ports.capabilities import Poller, PollFailed, Scheduler
from ports.channels import AnyChannel, Channels
from ports.clock import Clock
from ports.instances import HealthRecorder, InstanceLookup
from ports.jobs import JobQueue
from ports.metrics import Meter
from ports.schedules import Due, ScheduledRuns, ScheduleStore

log = logging.getLogger(__name__)

RUN = "run"
"""The kind of job that runs what is due."""

AT_ONCE = 200
"""How many due instances one look hands to the queue."""

UNREADABLE_PAUSE = timedelta(minutes=1)
"""How often it is looked whether a configuration can be decrypted now, lengthened with each failure."""

LONGEST = 240.0
"""Seconds that one poll may take."""


class PollingService:
    def __init__(
        self,
        schedules: ScheduleStore,
        runs: ScheduledRuns,
        instances: InstanceLookup,
        channels: Channels,
        health: HealthRecorder,
        queue: JobQueue,
        clock: Clock,
        meter: Meter,
        reads: ReadLimiter,
    ) -> None:
        self._schedules = schedules
        self._runs = runs
        self._instances = instances
        self._channels = channels
        self._health = health
        self._queue = queue
        self._clock = clock
        self._meter = meter
        self._reads = reads

    async def saved(self, instance: Instance) -> None:
        """Plans the next run of an instance that was created or changed."""
        channel = self._channels.find(instance.channel_id)
        if channel and channel.scheduler:
            next_fire = channel.scheduler.next_fire(channel.config.load(instance.config), self._clock.now())
            await self._schedules.plan(instance.id, next_fire)
        elif channel and channel.poller:
            await self._schedules.plan(instance.id, self._clock.now())

    async def complete(self) -> None:
        """Plans instances that have no row: a crash came between their creation and their plan."""
        ids = [each.definition.id for each in self._channels.all() if each.poller or each.scheduler]
        for instance_id in await self._schedules.missing(ids):
            try:
                instance = await self._instances.find(instance_id)
                if instance is not None:
                    await self.saved(instance)
            except Unavailable:
                raise
            except Exception:  # its own fault: the others are planned all the same
                log.exception("an instance could not be planned", extra={"instance": instance_id})

    async def resume(self) -> None:
        """After a start, polls those that can be watched: news may have come while nobody watched."""
        ids = [each.definition.id for each in self._channels.all() if each.push_watcher]
        await self._schedules.run_soon(ids, AT_ONCE)

    async def look(self) -> bool:
        """Hands what is due to the queue; whether there may be more."""
        leased = await self._runs.lease(AT_ONCE)
        for position, instance_id in enumerate(leased):
            try:
                await self._queue.enqueue(RUN, instance_id, alone=False)
            except Unavailable:
                await self._runs.give_back(leased[position:])
                raise
        return len(leased) == AT_ONCE

    async def run(self, instance_id: int) -> None:
        """One poll or firing of a leased instance."""
        due = await self._runs.begin(instance_id)
        if due is None:
            return
        try:
            await self._run(due)
        except StorageAway:
            raise
        except Exception as unexpected:
            log.exception("a run failed unexpectedly", extra={"instance": instance_id})
            reason = unexpected.message if isinstance(unexpected, Refusal) else type(unexpected).__name__
            await self._failed(due, PollFailed(f"internal error: {reason}"), timedelta())
        finally:
            await self._runs.release(due)

    async def _run(self, due: Due) -> None:
        instance = await self._instances.find(due.instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        if instance is None or channel is None:
            return
        if instance.status == UNREADABLE:
            await self._failed(due, PollFailed(UNDECRYPTED), UNREADABLE_PAUSE)
        elif channel.scheduler:
            await self._fire(due, instance, channel.scheduler, channel.config.load(instance.config))
        elif channel.poller:
            await self._poll(due, instance, channel, channel.poller)

    async def _fire(
        self, due: Due, instance: Instance, scheduler: Scheduler[ChannelConfig], config: ChannelConfig
    ) -> None:
        event = scheduler.fired(config, instance.id, due.planned)
        once = scheduler.fires_once(config)
        after = max(self._clock.now(), due.planned)  # our clock may be behind the one that found it due
        following = None if once else scheduler.next_fire(config, after)
        fresh = await self._runs.finish(due, [event], None, following, retire=once)
        if fresh is None:
            return
        await self._stored(instance, fresh)

    async def _poll(
        self, due: Due, instance: Instance, channel: AnyChannel, poller: Poller[ChannelConfig]
    ) -> None:
        every = interval(instance.config, poller.default_interval_minutes)
        try:
            async with asyncio.timeout(LONGEST), self._reads.slot(instance, channel):
                polled = await poller.poll(
                    channel.config.load(instance.config), due.cursor, self._clock.now(), instance.created_at
                )
        except TimeoutError:
            late = PollFailed(f"the platform took longer than {LONGEST:g} seconds to answer")
            await self._failed(due, late, every)
            return
        except PollFailed as failed:
            await self._failed(due, failed, every)
            return
        except Exception as unexpected:
            log.exception("a poll failed unexpectedly", extra={"instance": instance.id})
            await self._failed(due, PollFailed(f"internal error: {type(unexpected).__name__}"), every)
            return
        following = self._clock.now() if polled.more else self._clock.now() + every
        fresh = await self._runs.finish(due, polled.events, polled.cursor, following)
        if fresh is None:
            return
        await self._confirm(instance, channel, polled.events)
        await self._stored(instance, fresh)

    async def _stored(self, instance: Instance, fresh: Sequence[bool | None]) -> None:
        for each in fresh:
            if each is not None:
                self._meter.accepted(instance.channel_id, each)
        lost = sum(each is None for each in fresh)
        if lost:
            reason = f"{lost} of {len(fresh)} new messages could not be stored and are passed over"
            await self._health.failed(instance.id, Activity.RECEIVING, f"polling: {reason}")
        else:
            await self._health.succeeded(instance.id, Activity.RECEIVING)

    async def _confirm(self, instance: Instance, channel: AnyChannel, events: Sequence[Event]) -> None:
        if not events or channel.poll_ack is None:
            return
        try:
            async with self._reads.slot(instance, channel):
                await channel.poll_ack.acknowledge(channel.config.load(instance.config), events)
        except PollFailed as failed:
            log.warning("what was taken could not be marked: %s", failed, extra={"instance": instance.id})

    async def _failed(self, due: Due, failed: PollFailed, every: timedelta) -> None:
        at: datetime | None = None
        if not failed.fatal:
            at = self._clock.now() + back_off(due.failures + 1, every, failed.retry_after)
        await self._runs.failed(due, at)
        await self._health.failed(due.instance_id, Activity.RECEIVING, f"polling: {failed}")
        log.warning("a poll failed: %s", failed, extra={"instance": due.instance_id})
