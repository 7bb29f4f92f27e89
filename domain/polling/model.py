"""Schedules as their owners see them, and the intervals of polls."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

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


FIRES, POLLED = "schedule", "poll"
"""The kinds: by the clock, or asked every so often."""


BACK_OFF = (5.0, 15.0, 60.0, 300.0, 900.0, 1800.0)
"""Seconds before the next try after the first, second, ... failed poll in a row."""


def interval(config: Mapping[str, object], default_minutes: float) -> timedelta:
    """The time between two polls: checkInterval, minutes with fractions, else the channel's default."""
    minutes = config.get("checkInterval")
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or minutes <= 0:
        return timedelta(minutes=default_minutes)
    return timedelta(minutes=minutes)


def back_off(failures: int, every: timedelta, retry_after: float | None) -> timedelta:
    """The wait after `failures` failed polls in a row (at least 1); Retry-After is the least."""
    seconds = BACK_OFF[min(failures, len(BACK_OFF)) - 1]
    if failures > len(BACK_OFF):
        seconds = max(seconds, every.total_seconds())
    return timedelta(seconds=max(seconds, retry_after or 0.0))


def in_words(every: timedelta, *, is_watched: bool) -> str:
    """How often an instance is polled. `is_watched`: the platform announces news between two polls."""
    seconds = every.total_seconds()
    size, unit = next((size, unit) for size, unit in _UNITS if seconds >= size or size == 1)
    count = f"{seconds / size:.3g}"
    often = f"Every {unit}" if count == "1" else f"Every {count} {unit}s"
    return f"{often}, and when the platform announces news" if is_watched else often


_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
