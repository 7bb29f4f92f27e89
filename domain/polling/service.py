"""Polls instances, fires schedules, and shows when instances run."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.channels.messages import Event
from domain.channels.typed import ChannelConfig
from domain.delivery.concurrency import ReadLimiter
from domain.instances.health import UNDECRYPTED
from domain.instances.lookup import permitted_instance
from domain.instances.model import UNREADABLE, Activity, Instance
from domain.knowledge.sources.reading import FolderSync
from domain.paging import Page, checked_limit
from domain.polling import model
from domain.refusals import Conflict, StorageAway, Unavailable, reason_of
from ports.audit import Audit
from ports.capabilities import Poller, PollFailed
from ports.channels import AnyChannel, Channels
from ports.instances import Due, HealthStore, InstanceStore, ScheduleStore
from ports.system import Clock, JobQueue, Meter

log = logging.getLogger(__name__)

RUN = "run"
"""The kind of job that runs what is due."""
AT_ONCE = 200
"""How many due instances are handed to the job queue at a time."""
MOST_AT_ONCE = 10_000
"""How many polls are brought forward when the clock was put back."""
UNREADABLE_PAUSE = timedelta(minutes=1)
"""How often to check whether a configuration can be decrypted now, lengthened with each failure."""
LONGEST = 240.0
"""Seconds that one poll may take."""


@dataclass(eq=False)
class ScheduleService:
    """Plans runs."""

    schedules: ScheduleStore
    instances: InstanceStore
    channels: Channels
    clock: Clock

    async def saved(self, instance: Instance) -> None:
        channel = self.channels.find(instance.channel_id)
        if channel and channel.scheduler:
            next_fire = channel.scheduler.next_fire(channel.config.load(instance.config), self.clock.now())
            await self.schedules.plan(instance.id, next_fire)
        elif channel and channel.poller:
            await self.schedules.plan(instance.id, self.clock.now())

    async def plan_missing(self) -> None:
        """Plans instances without a schedule: the process stopped between their creation and their plan."""
        channels = [channel for channel in self.channels.all() if channel.poller or channel.scheduler]
        for instance_id in await self.schedules.missing([channel.definition.id for channel in channels]):
            try:
                instance = await self.instances.find(instance_id)
                if instance is not None:
                    await self.saved(instance)
            except Unavailable:
                raise
            except Exception:  # concerns this instance only
                log.exception("an instance could not be planned", extra={"instance": instance_id})

    async def poll_watched(self) -> None:
        """After a start, polls the instances that can be watched: messages may have come while nobody watched."""
        ids = [channel.definition.id for channel in self.channels.all() if channel.push_watcher]
        await self.schedules.run_soon(ids, AT_ONCE)

    async def poll_all(self) -> None:
        """After the clock was put back, polls what would wait for the former time."""
        ids = [channel.definition.id for channel in self.channels.all() if channel.poller]
        await self.schedules.run_soon(ids, MOST_AT_ONCE)


@dataclass(eq=False)
class PollingService:
    """Runs what is due."""

    schedules: ScheduleStore
    instances: InstanceStore
    channels: Channels
    health: HealthStore
    clock: Clock
    meter: Meter
    reads: ReadLimiter
    folders: FolderSync

    async def enqueue_due(self, queue: JobQueue) -> bool:
        """Hands due instances to the job queue; whether there may be more."""
        leased = await self.schedules.lease(AT_ONCE)
        for position, instance_id in enumerate(leased):
            try:
                await queue.enqueue(RUN, instance_id, alone=False)
            except Unavailable:
                await self.schedules.give_back(leased[position:])
                raise
        return len(leased) == AT_ONCE

    async def run(self, instance_id: int) -> None:
        """One poll or firing of a leased instance."""
        due = await self.schedules.begin(instance_id)
        if due is None:
            return
        try:
            await self._run(due)
        except StorageAway:
            raise
        except Exception as unexpected:
            log.exception("a run failed unexpectedly", extra={"instance": instance_id})
            await self._failed(due, PollFailed(reason_of(unexpected)), timedelta())
        finally:
            await self.schedules.release(due)

    async def _run(self, due: Due) -> None:
        instance = await self.instances.find(due.instance_id)
        channel = self.channels.find(instance.channel_id) if instance else None
        if instance is None or channel is None:
            return
        if instance.status == UNREADABLE:
            await self._failed(due, PollFailed(UNDECRYPTED), UNREADABLE_PAUSE)
        elif channel.scheduler:
            scheduler = channel.scheduler
            config = channel.config.load(instance.config)
            event = scheduler.fired(config, instance.id, due.planned)
            once = scheduler.fires_once(config)
            after = max(self.clock.now(), due.planned)  # our clock may be behind the one that found it due
            following = None if once else scheduler.next_fire(config, after)
            fresh = await self.schedules.finish(due, [event], None, following, retire=once)
            if fresh is not None:
                await self._record_stored(instance, fresh)
        elif channel.poller:
            await self._poll(due, instance, channel, channel.poller)

    async def _poll(
        self, due: Due, instance: Instance, channel: AnyChannel, poller: Poller[ChannelConfig]
    ) -> None:
        every = model.interval(instance.config, poller.default_interval_minutes)
        try:
            async with asyncio.timeout(LONGEST), self.reads.slot(instance, channel):
                polled = await poller.poll(
                    channel.config.load(instance.config), due.cursor, self.clock.now(), instance.created_at
                )
        except TimeoutError:
            failed = PollFailed(f"the platform took longer than {LONGEST:g} seconds to answer")
        except PollFailed as error:
            failed = error
        except Exception as unexpected:
            log.exception("a poll failed unexpectedly", extra={"instance": instance.id})
            failed = PollFailed(reason_of(unexpected))
        else:
            following = self.clock.now() if polled.more else self.clock.now() + every
            feeds = await self.folders.polled(instance, channel)
            if feeds and not instance.resource_id:  # what is in the folder is told to nobody else
                polled = replace(polled, events=())
            fresh = await self.schedules.finish(
                due, polled.events, polled.cursor, following, unanswered=polled.unanswered
            )
            if fresh is not None:
                for message in polled.unanswered:
                    self.meter.received(instance.channel_id, f"ignored:{message.refused}")
                await self._acknowledge(instance, channel, polled.events)
                await self._record_stored(instance, fresh)
            return
        await self._failed(due, failed, every)

    async def _record_stored(self, instance: Instance, fresh: Sequence[bool | None]) -> None:
        for is_fresh in fresh:
            if is_fresh is not None:
                self.meter.accepted(instance.channel_id, is_fresh)
        lost = fresh.count(None)
        if lost:
            reason = f"polling: {lost} of {len(fresh)} new messages could not be stored and are skipped"
            await self.health.failed(instance.id, Activity.RECEIVING, reason)
        else:
            await self.health.succeeded(instance.id, Activity.RECEIVING)

    async def _acknowledge(self, instance: Instance, channel: AnyChannel, events: Sequence[Event]) -> None:
        if not events or channel.poll_ack is None:
            return
        try:
            async with self.reads.slot(instance, channel):
                await channel.poll_ack.acknowledge(channel.config.load(instance.config), events)
        except PollFailed as failed:
            log.warning("polled messages could not be marked: %s", failed, extra={"instance": instance.id})

    async def _failed(self, due: Due, failed: PollFailed, every: timedelta) -> None:
        at: datetime | None = None
        if not failed.fatal:
            at = self.clock.now() + model.back_off(due.failures + 1, every, failed.retry_after)
        await self.schedules.failed(due, at)
        await self.health.failed(due.instance_id, Activity.RECEIVING, f"polling: {failed}")
        log.warning("a poll failed: %s", failed, extra={"instance": due.instance_id})


TIMES = 4
"""How many times of the clock are told after the next one."""


@dataclass(eq=False)
class ScheduleListService:
    """What runs by the clock of a caller: firings and polls."""

    schedules: ScheduleStore
    instances: InstanceStore
    channels: Channels
    clock: Clock
    audit: Audit

    @needs(Scope.INSTANCES_READ)
    async def list(self, caller: Caller, cursor: int, limit: int) -> Page[model.ScheduleView, int]:
        """Those of the caller's instances, of all instances for an admin. `cursor`: 0 for the first page."""
        rows = await self.schedules.of_user(caller.scope, cursor, checked_limit(limit) + 1)
        following = rows[limit - 1].instance.id if len(rows) > limit else None
        return Page([self._view(planned) for planned in rows[:limit]], following)

    @needs(Scope.INSTANCES_WRITE)
    async def run(self, caller: Caller, instance_id: int) -> None:
        """Fires or polls once more as soon as a worker can, whatever the plan. The plan stays.

        Raises `NotFound`, `Forbidden`, `Conflict` (the instance does not run by the clock).
        """
        instance = await permitted_instance(self.instances, caller, instance_id, InstanceLevel.MANAGE)
        channel = self.channels.find(instance.channel_id)
        if channel is None or not (channel.scheduler or channel.poller):
            raise Conflict(
                "the instance is neither polled nor fires by the clock, so there is nothing to run"
            )
        async with self.audit.change(caller, Action.SCHEDULE_RUN, f"instance:{instance_id}"):
            if not await self.schedules.run_now(instance_id):
                await self.schedules.plan(instance_id, self.clock.now())

    def _view(self, planned: model.PlannedInstance) -> model.ScheduleView:
        instance = planned.instance
        channel = self.channels.find(instance.channel_id)
        if channel is None:
            timing = model.Timing("")
        elif instance.status == UNREADABLE:
            timing = model.Timing("Unknown: the configuration cannot be decrypted")
        elif channel.scheduler:
            timing = channel.scheduler.timing(channel.config.load(instance.config))
        else:
            assert channel.poller is not None
            every = model.interval(instance.config, channel.poller.default_interval_minutes)
            timing = model.Timing(model.in_words(every, is_watched=channel.push_watcher is not None))
        return model.ScheduleView(
            instance.id,
            instance.user_id,
            instance.channel_id,
            instance.channel_name,
            model.FIRES if channel and channel.scheduler else model.POLLED,
            timing.description,
            timing.expression,
            timing.timezone,
            planned.next_run,
            _following(planned, channel) if channel else (),
            planned.is_running,
            planned.failures,
            planned.last_success,
            planned.last_error,
            planned.last_error_at,
        )


def _following(planned: model.PlannedInstance, channel: AnyChannel) -> tuple[datetime, ...]:
    """The times of the clock after the next one."""
    instance, at = planned.instance, planned.next_run
    if channel.scheduler is None or at is None or instance.status == UNREADABLE:
        return ()
    config = channel.config.load(instance.config)
    times: list[datetime] = []
    while len(times) < TIMES and not channel.scheduler.fires_once(config):
        at = channel.scheduler.next_fire(config, at)
        if at is None:
            break
        times.append(at)
    return tuple(times)
