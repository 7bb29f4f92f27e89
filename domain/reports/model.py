"""What reports count on each day, and the rows that they show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import IntEnum, StrEnum

from domain.monitoring.model import percentile
from domain.refusals import Fault, Invalid

KEPT_DAYS = 400
DEFAULT_DAYS = 30


class Measure(IntEnum):
    """What reports count, beside the buckets of the three histograms. Times are sums of milliseconds."""

    MESSAGES = -1
    PEOPLE = -2
    ANSWERED_BY_AGENT = -3
    ANSWERED_BY_PERSON = -4
    HANDOVERS = -5
    CLOSED = -6
    FAILED = -7
    FEEDBACK_UP = -8
    FEEDBACK_DOWN = -9
    FIRST_ANSWER_TIME = -10
    CLOSE_TIME = -11
    PERSON_TIME = -12


FIRST_ANSWERS, CLOSINGS, WAITS = 0, 100, 200
"""Number of the first bucket of a histogram."""
BOUNDS = tuple(round(1.5**number, 3) for number in range(39))
"""Seconds between which times are counted together, 1 s to 57 days."""


class Dimension(StrEnum):
    """What a report has a row for each of. `PERSON`: a colleague; `TEAM`: what its members did; `ALL`: one row in
    all, unless others are named."""

    ALL = "all"
    DAY = "day"
    INSTANCE = "instance"
    TEAM = "team"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class ReportKey:
    """What the figures of a row are of: None for what the report is not split by. `user_id` is empty for what no
    colleague did, `team_id` 0 for what no member of a team did; `team_name`: None then too."""

    day: str | None
    instance_id: int | None
    team_id: int | None
    team_name: str | None
    user_id: str | None


@dataclass(frozen=True, slots=True)
class ReportTimes:
    """How many times were counted, their mean, and the one that half of them do not exceed, to within a fifth; None
    where there were none."""

    count: int = 0
    mean_seconds: float | None = None
    median_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """Figures of the days of a report. `channel_name`: None where the instance is gone."""

    day: str | None
    instance_id: int | None
    channel_name: str | None
    team_id: int | None
    team_name: str | None
    user_id: str | None
    messages: int
    people: int
    answered_by_agent: int
    answered_by_person: int
    time_to_first_answer: ReportTimes
    handovers: int
    time_to_person: ReportTimes
    closed: int
    time_to_close: ReportTimes
    failed: int
    feedback_up: int
    feedback_down: int


def parse_dimensions(by: Sequence[str]) -> frozenset[Dimension]:
    """The day where none is named. Raises `Invalid`."""
    if unknown := [word for word in by if word not in tuple(Dimension)]:
        raise Invalid.of([Fault("by", f"{unknown[0][:50]}: unknown; there are {', '.join(Dimension)}")])
    return frozenset(map(Dimension, by)) or frozenset({Dimension.DAY})


def parse_days(first: str | None, last: str | None, today: date) -> tuple[date, date]:
    """The first and the last day of a report, without them the last 30 days. Raises `Invalid`."""
    end = _day("to", last) if last else today
    begin = _day("from", first) if first else end - timedelta(days=DEFAULT_DAYS - 1)
    if begin > end:
        raise Invalid.of([Fault("from", "must not be after to")])
    if (end - begin).days >= KEPT_DAYS:
        raise Invalid.of([Fault("from", f"must be less than {KEPT_DAYS} days before to")])
    return begin, end


def _day(field: str, text: str) -> date:
    """From 1970 on."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.isoformat() != text or day.year < 1970:
        raise Invalid.of([Fault(field, "must be a day, such as 2026-03-31")])
    return day


def row_of(key: ReportKey, channel_name: str | None, counts: Mapping[int, int]) -> ReportRow:
    """`counts`: by the numbers of `Measure`, and of the buckets."""
    return ReportRow(
        day=key.day,
        instance_id=key.instance_id,
        channel_name=channel_name,
        team_id=key.team_id,
        team_name=key.team_name,
        user_id=key.user_id,
        messages=counts.get(Measure.MESSAGES, 0),
        people=counts.get(Measure.PEOPLE, 0),
        answered_by_agent=counts.get(Measure.ANSWERED_BY_AGENT, 0),
        answered_by_person=counts.get(Measure.ANSWERED_BY_PERSON, 0),
        time_to_first_answer=_times(counts, FIRST_ANSWERS, Measure.FIRST_ANSWER_TIME),
        handovers=counts.get(Measure.HANDOVERS, 0),
        time_to_person=_times(counts, WAITS, Measure.PERSON_TIME),
        closed=counts.get(Measure.CLOSED, 0),
        time_to_close=_times(counts, CLOSINGS, Measure.CLOSE_TIME),
        failed=counts.get(Measure.FAILED, 0),
        feedback_up=counts.get(Measure.FEEDBACK_UP, 0),
        feedback_down=counts.get(Measure.FEEDBACK_DOWN, 0),
    )


def _times(counts: Mapping[int, int], base: int, total: Measure) -> ReportTimes:
    numbers = range(len(BOUNDS) + 1)
    buckets = {number: counts[base + number] for number in numbers if base + number in counts}
    count = sum(buckets.values())
    if not count:
        return ReportTimes()
    return ReportTimes(count, round(counts.get(total, 0) / count / 1000, 3), percentile(buckets, 0.5, BOUNDS))
