"""What runs by the clock, for the owners of the instances."""

from dataclasses import dataclass
from datetime import datetime

from domain.access.model import Caller
from domain.instances.lookup.service import owned_instance
from domain.instances.model import UNREADABLE
from domain.polling.model import FIRES, POLLED, PlannedInstance, SchedulePage, ScheduleView, Timing
from domain.polling.rules import in_words, interval
from domain.refusals import Conflict
from ports.channels import AnyChannel, Channels
from ports.clock import Clock
from ports.instances import InstanceStore
from ports.schedules import ScheduleOverview, ScheduleStore

TIMES = 4
"""How many times of the clock are told after the next one."""


@dataclass(eq=False)
class ScheduleListService:
    """`ports.schedules.Schedules`."""

    overview: ScheduleOverview
    plans: ScheduleStore
    instances: InstanceStore
    channels: Channels
    clock: Clock

    async def list(self, caller: Caller, cursor: int, limit: int) -> SchedulePage:
        user_id = None if caller.is_admin else caller.user_id
        rows = await self.overview.of_user(user_id, cursor, limit + 1)
        following = rows[limit - 1].instance.id if len(rows) > limit else None
        return SchedulePage([self._view(planned) for planned in rows[:limit]], following)

    async def run(self, caller: Caller, instance_id: int) -> None:
        instance = await owned_instance(self.instances, caller, instance_id)
        channel = self.channels.find(instance.channel_id)
        if channel is None or not (channel.scheduler or channel.poller):
            raise Conflict(
                "the instance is neither polled nor fires by the clock, so there is nothing to run"
            )
        if not await self.overview.run_now(instance_id):
            await self.plans.plan(instance_id, self.clock.now())

    def _view(self, planned: PlannedInstance) -> ScheduleView:
        instance = planned.instance
        channel = self.channels.find(instance.channel_id)
        timing = _timing(planned, channel) if channel else Timing("")
        return ScheduleView(
            instance.id,
            instance.user_id,
            instance.channel_id,
            instance.channel_name,
            FIRES if channel and channel.scheduler else POLLED,
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


def _timing(planned: PlannedInstance, channel: AnyChannel) -> Timing:
    instance = planned.instance
    if instance.status == UNREADABLE:
        return Timing("Unknown: the configuration cannot be decrypted")
    if channel.scheduler:
        return channel.scheduler.timing(channel.config.load(instance.config))
    assert channel.poller is not None
    every = interval(instance.config, channel.poller.default_interval_minutes)
    return Timing(in_words(every, is_watched=channel.push_watcher is not None))


def _following(planned: PlannedInstance, channel: AnyChannel) -> tuple[datetime, ...]:
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
