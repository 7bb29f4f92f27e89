"""When a cron expression fires, on the wall clock of its time zone.

Wall-clock times that are skipped when clocks go forward fire at the next valid minute, and those that come
twice when clocks go back fire once. Expressions that leave the hour open (`*/30 * * * *`, `15 * * * *`) are
intervals: they fire whenever the clock shows such a time, so in both of a repeated hour, and never for a skipped
one.

The library finds the times of the calendar; what they are in a time zone is decided here, because its own
handling of zones is wrong where clocks change by half an hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from cronsim import CronSim

from domain.channels.cron import fires_every_hour, spelt_out

_LARGEST_STEP_BACK = timedelta(hours=3)
_MINUTE = timedelta(minutes=1)


def next_fire(expression: str, timezone: str, after: datetime) -> datetime | None:
    """The first moment strictly after `after` at which the expression fires, in UTC; None for never.

    `expression` and `timezone` have been checked (`domain.channels.cron.fault`, the IANA database).
    """
    zone: tzinfo = UTC if timezone.upper() == "UTC" else ZoneInfo(timezone)
    is_interval = fires_every_hour(expression)
    repeated = None
    for wall in _wall_times(expression, after, zone):
        if _is_skipped(wall, zone):
            if is_interval:
                continue
            wall = _end_of_gap(wall, zone)  # noqa: PLW2901
        if is_interval and repeated is None:
            second = _moment(wall, zone, fold=1)
            repeated = second if second > after else None
        first = _moment(wall, zone, fold=0)
        if first > after:
            return min(first, repeated or first)
    return None


def _wall_times(expression: str, after: datetime, zone: tzinfo) -> Iterator[datetime]:
    """The times of the calendar that the expression names, from `after` on, or from before it while clocks
    are being changed: the times around it may then come twice."""
    around = [after - _LARGEST_STEP_BACK, after + _LARGEST_STEP_BACK]
    before, afterwards = (moment.astimezone(zone).utcoffset() for moment in around)
    start = after.astimezone(zone).replace(tzinfo=None)
    return iter(CronSim(spelt_out(expression), start if before == afterwards else start - _LARGEST_STEP_BACK))


def _moment(wall: datetime, zone: tzinfo, fold: int) -> datetime:
    return wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _is_skipped(wall: datetime, zone: tzinfo) -> bool:
    """Whether clocks never show this time, because they are put forward over it."""
    return _moment(wall, zone, fold=0).astimezone(zone).replace(tzinfo=None) != wall


def _end_of_gap(wall: datetime, zone: tzinfo) -> datetime:
    while _is_skipped(wall, zone):
        wall += _MINUTE
    return wall
