"""What runs by the clock, as its owner sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.instances.model import Instance


@dataclass(frozen=True, slots=True)
class Timing:
    """When an instance runs: in words, and for a cron expression the expression and its time zone."""

    description: str
    expression: str = ""
    timezone: str = ""


@dataclass(frozen=True, slots=True)
class PlannedInstance:
    """An instance that runs by the clock, and what is on record of its runs. `failures` is the number of failed runs
    since the last good one."""

    instance: Instance
    next_run: datetime | None
    is_running: bool
    failures: int
    last_success: datetime | None
    last_error: str | None
    last_error_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """When an instance is polled, or fires. `next_run` None: not before it is changed, or run by hand. `following`
    are the times of the clock after that, none for polls: they count from the end of the run before."""

    instance_id: int
    user_id: str
    channel_id: str
    channel_name: str
    kind: str
    description: str
    expression: str
    timezone: str
    next_run: datetime | None
    following: tuple[datetime, ...]
    is_running: bool
    failures: int
    last_success: datetime | None
    last_error: str | None
    last_error_at: datetime | None


@dataclass(frozen=True, slots=True)
class SchedulePage:
    """Ordered by the ids of the instances. `next`: the cursor of the next page, None on the last."""

    schedules: Sequence[ScheduleView]
    next: int | None


FIRES, POLLED = "schedule", "poll"
"""The kinds: by the clock, or asked every so often."""
