"""When expressions fire, against a slow reference that looks at every minute."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.outbound.channels.cron.schedule import next_fire


def fires(expression: str, zone: str, start: str, count: int) -> list[str]:
    """The next firings after a UTC time, on the zone's wall clock."""
    moment = datetime.fromisoformat(start).replace(tzinfo=UTC)
    found = []
    for _ in range(count):
        following = next_fire(expression, zone, moment)
        assert following is not None
        moment = following
        found.append(moment.astimezone(ZoneInfo(zone)).isoformat(timespec="minutes"))
    return found


@pytest.mark.parametrize(
    ("expression", "zone", "start", "expected"),
    [
        ("0 9 * * 1-5", "UTC", "2026-11-20 09:00", ["2026-11-23T09:00+00:00", "2026-11-24T09:00+00:00"]),
        # over the end of the week
        (
            "0 9 * * sat-sun",
            "UTC",
            "2026-11-20 09:00",
            ["2026-11-21T09:00+00:00", "2026-11-22T09:00+00:00", "2026-11-28T09:00+00:00"],
        ),
        # clocks go forward: 02:00 becomes 03:00
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28 12:00",
            ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"],
        ),
        (
            "*/30 2 * * *",
            "Europe/Berlin",
            "2026-03-28 12:00",
            ["2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00"],
        ),
        (
            "30 2,3 * * *",
            "Europe/Berlin",
            "2026-03-28 12:00",
            ["2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00"],
        ),
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-03-29 00:15",
            ["2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"],
        ),
        (
            "0 0 * * *",
            "America/Santiago",
            "2026-09-05 12:00",
            ["2026-09-06T01:00-03:00", "2026-09-07T00:00-03:00"],
        ),
        # clocks go back: 02:00 to 03:00 comes twice
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24 12:00",
            ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
        ),
        (
            "*/30 2 * * *",
            "Europe/Berlin",
            "2026-10-25 00:00",
            ["2026-10-25T02:30+02:00", "2026-10-26T02:00+01:00"],
        ),
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-24 23:45",
            [
                "2026-10-25T02:00+02:00",
                "2026-10-25T02:30+02:00",
                "2026-10-25T02:00+01:00",
                "2026-10-25T02:30+01:00",
            ],
        ),
        (
            "0 */2 * * *",
            "Europe/Berlin",
            "2026-03-28 22:30",
            ["2026-03-29T00:00+01:00", "2026-03-29T03:00+02:00", "2026-03-29T04:00+02:00"],
        ),
        (
            "0 */2 * * *",
            "Europe/Berlin",
            "2026-10-24 23:30",
            ["2026-10-25T02:00+02:00", "2026-10-25T04:00+01:00"],
        ),
        (
            "45 0-23 * * *",
            "America/New_York",
            "2026-11-01 05:30",
            ["2026-11-01T01:45-04:00", "2026-11-01T01:45-05:00", "2026-11-01T02:45-05:00"],
        ),
        ("45 2 * * *", "Pacific/Chatham", "2026-09-26 00:00", ["2026-09-27T03:45+13:45"]),
        ("15 1 * * *", "Antarctica/Troll", "2026-03-28 12:00", ["2026-03-29T03:00+02:00"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25 01:10", ["2026-10-26T02:30+01:00"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00", ["2026-10-04T02:30+11:00"]),
    ],
)
def test_fires_on_the_wall_clock(expression: str, zone: str, start: str, expected: list[str]) -> None:
    assert fires(expression, zone, start, len(expected)) == expected


def test_never_is_none() -> None:
    assert next_fire("0 0 */30 2 5#5", "UTC", datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_seconds_do_not_matter() -> None:
    after = datetime(2026, 1, 1, 11, 59, 59, 999_999, tzinfo=UTC)
    assert next_fire("0 12 * * *", "utc", after) == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert next_fire("0 12 * * *", "UTC", after + timedelta(microseconds=1)) == datetime(
        2026, 1, 2, 12, tzinfo=UTC
    )


# --- the reference

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def numbers(part: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for term in part.split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        start, end = (low, high) if span == "*" else (int(first), int(last or first))
        found |= set(range(start, end + 1, int(step or 1)))
    return found


class Reference:
    """Fires by looking at each minute of real time."""

    def __init__(self, expression: str, zone: str) -> None:
        self.parts = expression.split()
        self.zone = ZoneInfo(zone)
        self.sets = [numbers(part, *limits) for part, limits in zip(self.parts, LIMITS, strict=True)]
        self.is_interval = self.sets[1] == set(range(24))

    def matches(self, local: datetime) -> bool:
        minutes, hours, days, months, weekdays = self.sets
        weekday = local.isoweekday()
        by_day, by_weekday = local.day in days, weekday in weekdays or weekday % 7 in weekdays
        starred = self.parts[2].startswith("*") or self.parts[4].startswith("*")
        right_day = (by_day and by_weekday) if starred else (by_day or by_weekday)
        return local.minute in minutes and local.hour in hours and local.month in months and right_day

    def fires(self, moment: datetime) -> bool:
        local = moment.astimezone(self.zone)
        if self.is_interval:
            return self.matches(local)
        if local.fold:
            return False
        before = (moment - timedelta(minutes=1)).astimezone(self.zone).replace(tzinfo=None)
        skipped = before + timedelta(minutes=1)
        while skipped < local.replace(tzinfo=None):
            if self.matches(skipped):
                return True
            skipped += timedelta(minutes=1)
        return self.matches(local)

    def next(self, after: datetime, horizon: timedelta) -> datetime | None:
        moment = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while moment <= after + horizon:
            if self.fires(moment):
                return moment
            moment += timedelta(minutes=1)
        return None


CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00"),
    ("Europe/Berlin", "2026-10-25T01:00"),
    ("America/New_York", "2026-03-08T07:00"),
    ("America/New_York", "2026-11-01T06:00"),
    ("Australia/Lord_Howe", "2026-10-03T15:30"),
    ("Australia/Lord_Howe", "2026-04-04T15:00"),
    ("America/Santiago", "2026-09-06T04:00"),
    ("America/Santiago", "2026-04-05T03:00"),
    ("Africa/Cairo", "2026-04-23T22:00"),
    ("Africa/Cairo", "2026-10-29T21:00"),
    ("Asia/Kolkata", "2026-06-01T00:00"),
    ("Asia/Kathmandu", "2026-06-01T00:00"),
]


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> str:
    def term() -> str:
        start = draw(st.integers(low, high))
        end = draw(st.integers(start, high))
        step = draw(st.sampled_from(["", "", "/2", "/7"])) if start < end else ""
        return draw(st.sampled_from([f"{start}", f"{start}-{end}{step}", f"*{step}"]))

    return ",".join(term() for _ in range(draw(st.integers(1, 2))))


expressions = st.builds(
    lambda minute, hour, days: f"{minute} {hour} {days}",
    fields(0, 59),
    st.one_of(st.just("*"), st.just("*/2"), fields(0, 4), fields(0, 23)),
    st.sampled_from(["* * *", "* * *", "* * 0", "*/2 * *", "1-29 * 1"]),
)


@settings(max_examples=150, deadline=None)
@given(expressions, st.sampled_from(CHANGES), st.integers(-2000, 400))
def test_agrees_with_the_reference_around_clock_changes(
    expression: str, change: tuple[str, str], minutes: int
) -> None:
    zone, moment = change
    after = datetime.fromisoformat(moment).replace(tzinfo=UTC) + timedelta(minutes=minutes)
    horizon = timedelta(days=2)
    expected = Reference(expression, zone).next(after, horizon)
    found = next_fire(expression, zone, after)
    if expected is None:
        assert found is None or found > after + horizon
    else:
        assert found == expected
