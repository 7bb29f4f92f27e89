"""What a cron expression may be, and when it fires on the wall clock of its time zone.

The grammar is that of crontab (POSIX.1-2024, `crontab`) with the usual additions: steps (`*/15`, `1-30/2`,
`5/20`), names (`mon-fri`, `jan`), Sunday as 0 or 7, ranges of weekdays over Sunday (`sat-sun`, `fri-mon`), `L`
and `LW` for the last day and the last working day of the month, `5L` for the last Friday and `5#2` for the second
Friday of the month.

Wall-clock times that are skipped when clocks go forward fire at the next valid minute, and those that come
twice when clocks go back fire once. Expressions that leave the hour open (`*/30 * * * *`, `15 * * * *`) are
intervals: they fire whenever the clock shows such a time, so in both of a repeated hour, and never for a skipped
one. cronsim parses expressions and finds the times of the calendar; time zones are handled here, because its own
handling is wrong where clocks change by half an hour.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim, CronSimError
from cronsim.cronsim import Field

from domain.time_zones import time_zone

_FIELDS = {
    Field.MINUTE: "minute (0-59)",
    Field.HOUR: "hour (0-23)",
    Field.DAY: "day of month (1-31)",
    Field.MONTH: "month (1-12 or jan-dec)",
    Field.DOW: "weekday (0-7 or sun-sat)",
}
_LARGEST_STEP_BACK = timedelta(hours=3)
_MINUTE = timedelta(minutes=1)
_LONGEST = 200


def fault(expression: str) -> str | None:
    """Returns the fault of a cron expression, by the name and range of its field; None if it is valid."""
    parts = expression.split()
    if len(parts) != len(_FIELDS):
        return f"must have 5 fields (minute hour day month weekday), has {len(parts)}"
    for (field, name), part in zip(_FIELDS.items(), parts, strict=True):
        try:
            field.parse(_without_wrapped_ranges(part) if field is Field.DOW else part.upper())
        except (CronSimError, ValueError):
            return f"the {name} '{part[:_LONGEST]}' is not valid: use numbers, ranges as 1-5, steps as */15, lists"
    try:
        CronSim(normalized(expression), datetime(2026, 1, 1))  # noqa: DTZ001 - of the calendar
    except CronSimError:
        return f"the day of month '{parts[2]}' never comes in month '{parts[3]}'"
    return None


def normalized(expression: str) -> str:
    """A good expression with its weekdays listed where a range runs over Sunday: `fri-mon` as `5,6,0,1`."""
    *others, weekday = expression.split()
    return " ".join([*others, _without_wrapped_ranges(weekday)])


def in_words(expression: str) -> str:
    """A good expression as an English phrase: 'At 09:00 on Monday through Friday'."""
    return CronSim(normalized(expression), datetime(2026, 1, 1)).explain()  # noqa: DTZ001 - of the calendar


def _without_wrapped_ranges(weekdays: str) -> str:
    terms = weekdays.upper().split(",")
    for index, term in enumerate(terms):
        span, slash, step = term.partition("/")
        first, dash, last = span.partition("-")
        if not dash or (start := Field.DOW.int(first)) <= (end := Field.DOW.int(last)):
            continue
        if slash and not (step.isascii() and step.isdigit()):
            raise ValueError(f"no step: {step}")
        days = [(start + day) % 7 for day in range((end - start) % 7 + 1)]
        terms[index] = ",".join(map(str, days[:: int(step) if slash else 1]))
    return ",".join(terms)


def next_fire(expression: str, timezone: str, after: datetime) -> datetime | None:
    """Returns the first moment strictly after `after` at which the expression fires, in UTC; None for never.

    `expression` and `timezone` are valid (`fault`, `time_zone_fault`).
    """
    zone = time_zone(timezone)
    is_interval = len(Field.HOUR.parse(expression.upper().split()[1])) == 24
    repeated = None
    for wall in _wall_times(expression, after, zone):
        if is_interval and _is_skipped(wall, zone):
            continue
        while _is_skipped(wall, zone):  # to the end of the gap
            wall += _MINUTE  # noqa: PLW2901
        if is_interval and repeated is None and (second := _moment(wall, zone, fold=1)) > after:
            repeated = second
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
    return iter(
        CronSim(normalized(expression), start if before == afterwards else start - _LARGEST_STEP_BACK)
    )


def _moment(wall: datetime, zone: tzinfo, fold: int) -> datetime:
    return wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _is_skipped(wall: datetime, zone: tzinfo) -> bool:
    """Return True if clocks never show this time, as they are put forward over it."""
    return _moment(wall, zone, fold=0).astimezone(zone).replace(tzinfo=None) != wall
