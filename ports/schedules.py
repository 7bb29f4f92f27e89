"""Rows of what runs by the clock: polls and firings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.access.model import Caller
from domain.channels.messages import Event
from domain.instances.model import Instance
from domain.polling.model import PlannedInstance, SchedulePage


class Schedules(Protocol):
    """What runs by the clock of a caller: firings and polls."""

    async def list(self, caller: Caller, cursor: int, limit: int) -> SchedulePage:
        """Those of the caller's instances, of all instances for an admin. `cursor`: 0 for the first page."""
        ...

    async def run(self, caller: Caller, instance_id: int) -> None:
        """Fires or polls once more as soon as a worker can, whatever the plan. The plan stays.

        Raises `NotFound`, `Forbidden`, `Conflict` (the instance does not run by the clock).
        """
        ...


class ScheduleOverview(Protocol):
    """What is on record of the runs of many instances."""

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[PlannedInstance]:
        """Of all users (None), with ids over `after`, in their order."""
        ...

    async def run_now(self, instance_id: int) -> bool:
        """Runs as soon as somebody can, also where no run is planned; once more when a run is under way. False for an
        instance without a schedule."""
        ...


@dataclass(frozen=True, slots=True)
class Due:
    """A run of a leased schedule: `planned` is when it was to run, `cursor` what the last poll stored,
    `began` tells this run from all others of the instance."""

    instance_id: int
    planned: datetime
    cursor: Mapping[str, object] | None
    failures: int
    began: datetime


class ScheduleStore(Protocol):
    """When instances run next."""

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        """Sets when the instance runs next (None: never), freeing it from whoever is running it."""
        ...

    async def due_now(self, instance_id: int) -> None:
        """Runs as soon as somebody can, once more when a run is under way.

        Nothing happens for an instance without a schedule, or one that does not run until it is changed.
        """
        ...

    async def run_soon(self, channel_ids: Sequence[str], count: int) -> None:
        """Makes the instances of these channels that are to run soonest due now, `count` of them at most, but
        none whose last run failed."""
        ...

    async def missing(self, channel_ids: Sequence[str]) -> Sequence[int]:
        """Instances of these channels that have no row yet."""
        ...


class ScheduledRuns(Protocol):
    """Runs of schedules: one runner at a time per instance, over any number of workers."""

    async def lease(self, count: int) -> Sequence[int]:
        """Instances that are due and that nobody runs, leased to this process until a run begins."""
        ...

    async def give_back(self, instance_ids: Sequence[int]) -> None:
        """Gives leases back whose run has not begun."""
        ...

    async def begin(self, instance_id: int) -> Due | None:
        """Begins the run of a leased instance, in this process whoever leased it.

        None when there is no run to begin: the instance was changed or removed, or it is running already.
        """
        ...

    async def finish(
        self,
        due: Due,
        events: Sequence[Event],
        cursor: Mapping[str, object] | None,
        at: datetime | None,
        *,
        retire: bool = False,
        unanswered: Sequence[Event] = (),
    ) -> Sequence[bool | None] | None:
        """Stores events, cursor and the next run in one transaction, with the messages that are not answered; with
        `retire` that of `Deactivation` too.

        Whether each event is fresh, None for one that cannot be stored. None in place of all, with nothing stored,
        when the lease was lost.
        """
        ...

    async def failed(self, due: Due, at: datetime | None) -> None:
        """A run failed: one failure more, and when to try again (None: not before the config changes)."""
        ...

    async def release(self, due: Due) -> None:
        """The run is over, however it ended."""
        ...


class PollQueue(Protocol):
    async def due_now(self, instance_id: int) -> None:
        """The instance is polled as soon as somebody can, whatever its interval."""
        ...


class Deactivation(Protocol):
    async def retire(self, instance_id: int) -> None:
        """The instance removes itself: it is listed no more and goes once its messages are answered."""
        ...


class ScheduleSync(Protocol):
    """What the instances' use cases tell of changes."""

    async def saved(self, instance: Instance) -> None:
        """An instance was created or updated: its schedule is made anew, at once."""
        ...
