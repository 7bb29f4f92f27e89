"""Routes: one resource for each message, shares that hold and stay, hours by the clocks of a place."""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.routing.route_faults import routing_faults
from domain.routing.routes import DAYS, Condition, Hours, Route, Situation, choose
from domain.routing.word_patterns import MOST_SEARCHED, SearchedText

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
"""A Monday."""
HERE = Situation(7, "s", NOW)


def fits(when: Condition, situation: Situation = HERE) -> bool:
    return choose([Route(when, "agent::b")], situation) is not None


texts = st.text(max_size=30)
times = st.builds(lambda h, m: f"{h:02}:{m:02}", st.integers(0, 23), st.integers(0, 59))
hours = st.builds(
    Hours,
    times,
    times,
    st.lists(st.sampled_from(DAYS), max_size=3).map(tuple),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
some = st.lists(texts, max_size=3).map(tuple)
conditions = st.builds(
    Condition,
    some,
    some,
    st.none() | hours,
    st.none() | st.booleans(),
    st.none() | st.booleans(),
    some,
    some,
    st.none() | st.floats(0, 1),
)
situations = st.builds(
    Situation,
    st.integers(1, 9),
    texts,
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    texts,
    st.dictionaries(
        st.sampled_from(["language", "group"]), texts | st.dictionaries(texts, texts) | st.none()
    ),
    st.booleans(),
    st.booleans(),
    some,
)


@given(st.lists(conditions, max_size=5), situations)
@settings(deadline=None)
def test_each_message_gets_one_resource_and_always_the_same(
    whens: list[Condition], situation: Situation
) -> None:
    routes = [Route(when, f"agent::r{number}") for number, when in enumerate(whens)]
    chosen = choose([*routes, Route(Condition(), "agent::rest")], situation)
    assert chosen is not None
    alone = [choose([route], situation) for route in routes]
    first = next((number for number, one in enumerate(alone) if one is not None), len(routes))
    assert chosen.resource_id == [*(route.to for route in routes), "agent::rest"][first]
    assert chosen.route.startswith(f"route {first + 1}")
    assert choose([*routes, Route(Condition(), "agent::rest")], situation) == chosen


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.9, 1.0])
def test_a_share_is_that_part_of_the_conversations(share: float) -> None:
    count = sum(
        fits(Condition(share=share), Situation(7, f"session {number}", NOW)) for number in range(10_000)
    )
    assert abs(count / 10_000 - share) < 0.01


def test_conversations_stay_where_they_are() -> None:
    """When other routes are added, and when the share grows."""
    trial = Route(Condition(share=0.2), "agent::new")
    for number in range(1000):
        situation = Situation(7, f"session {number}", NOW)
        if choose([trial], situation) is None:
            continue
        later = replace(situation, now=NOW + timedelta(days=400), text="something else")
        chosen = choose([Route(Condition(language=("de",)), "agent::de"), trial], later)
        assert chosen is not None
        assert chosen.resource_id == "agent::new"
        assert choose([replace(trial, when=Condition(share=0.3))], situation) is not None


def test_the_shares_of_two_instances_and_resources_are_independent() -> None:
    def side(instance: int, to: str, number: int) -> bool:
        return choose([Route(Condition(share=0.5), to)], Situation(instance, f"s{number}", NOW)) is not None

    for other in ((8, "agent::b"), (7, "agent::c")):
        both = sum(side(7, "agent::b", number) and side(*other, number) for number in range(4000))
        assert abs(both / 4000 - 0.25) < 0.03


@given(hours, st.datetimes(datetime(2026, 3, 1), datetime(2026, 11, 30), timezones=st.just(UTC)))  # noqa: DTZ001
@settings(deadline=None)
def test_hours_hold_by_the_local_clock(when: Hours, now: datetime) -> None:
    local = now.astimezone(ZoneInfo(when.time_zone))
    clock, days = f"{local:%H:%M}", when.days or DAYS
    today, yesterday = DAYS[local.weekday()] in days, DAYS[(local.weekday() + 6) % 7] in days
    if when.start < when.end:
        expected = today and when.start <= clock < when.end
    else:
        expected = (today and clock >= when.start) or (yesterday and clock < when.end)
    assert when.hold(now) == expected


@pytest.mark.parametrize(
    ("zone", "day", "start", "end", "minutes"),
    [
        ("Europe/Berlin", datetime(2026, 3, 29, tzinfo=UTC), "01:00", "04:00", 120),  # 2 to 3 is left out
        ("Europe/Berlin", datetime(2026, 10, 25, tzinfo=UTC), "01:00", "04:00", 240),  # 2 to 3 comes twice
        ("America/New_York", datetime(2026, 3, 8, tzinfo=UTC), "09:00", "17:00", 480),
        ("Australia/Lord_Howe", datetime(2026, 4, 5, tzinfo=UTC), "00:00", "24:00", 24 * 60 + 30),
    ],
)
def test_hours_when_the_clocks_change(zone: str, day: datetime, start: str, end: str, minutes: int) -> None:
    when = Hours(start, end, (DAYS[day.weekday()],), zone)
    around = (day + timedelta(minutes=minute) for minute in range(-24 * 60, 48 * 60))
    assert sum(when.hold(minute) for minute in around) == minutes


def test_hours_over_midnight_belong_to_the_day_on_which_they_begin() -> None:
    night = Hours("22:00", "06:00", ("fri",), "Europe/Berlin")
    friday = datetime(2026, 3, 6, tzinfo=ZoneInfo("Europe/Berlin"))
    held = [night.hold(friday + timedelta(hours=hour)) for hour in (5, 21, 22, 23, 24, 29, 30, 46)]
    assert held == [False, False, True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("refund", "I want a REFUND!", True),
        ("refund", "refunds", False),
        ("refund*", "Refunds, please", True),
        ("*fund", "my refund", True),
        ("re*d", "red and refund", True),
        ("my order", "Where is my  order?", True),
        ("my order", "my last order", False),
        ("my * order", "my last order", True),
        ("my *", "that is my", False),
        ("straße", "STRASSE 5", True),
        ("caf\u00e9", "the cafe\u0301", True),
        ("*退款*", "我要退款吗", True),
        ("a*a", "a", False),
        ("a.c", "abc", False),
    ],
)
def test_patterns_are_words(pattern: str, text: str, expected: bool) -> None:
    assert SearchedText(text).holds(pattern) is expected


@given(st.text("ab*", min_size=1, max_size=8), st.text("ab", min_size=1, max_size=10))
def test_a_pattern_of_one_word_is_a_glob(pattern: str, word: str) -> None:
    assert SearchedText(f"x {word} y").holds(pattern) == any(
        fnmatchcase(each, pattern) for each in ("x", word, "y")
    )


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*".join("a" * 100) + "b", "a" * MOST_SEARCHED),
        ("*a" * 90 + "*b", "a" * MOST_SEARCHED),
        ("a " * 99 + "b", "a " * MOST_SEARCHED),
        ("a* " * 60 + "b", "a " * MOST_SEARCHED),
    ],
)
def test_no_text_takes_long(pattern: str, text: str) -> None:
    """Of a hostile text, a thousand times as long as is looked at. Where time grew with a power of the length, this
    would never end; the limit is far from what it takes."""
    began = time.thread_time()
    assert not SearchedText(text * 1000).holds(pattern[:200])
    assert time.thread_time() - began < 5


def test_language() -> None:
    def speaks(language: object, *wanted: str) -> bool:
        return fits(Condition(language=wanted), replace(HERE, context={"language": language}))

    assert speaks("de-AT", "de")
    assert speaks("DE_at", "de-at")
    assert speaks("fr", "de", "fr")
    assert not speaks("de", "de-AT")
    assert not speaks("den", "de")
    assert not speaks("", "de")
    assert not speaks(None, "de")


def test_what_else_is_known_of_a_message() -> None:
    group = replace(HERE, in_group=True, context={"group": {"id": "C1", "name": "Support"}})
    assert fits(Condition(in_group=True), group)
    assert fits(Condition(in_group=False))
    assert not fits(Condition(in_group=True))
    assert fits(Condition(groups=("x", "support")), group)
    assert fits(Condition(groups=("C1",)), group)
    assert not fits(Condition(groups=("C2",)), group)
    assert fits(Condition(verified=True), replace(HERE, verified=True))
    assert not fits(Condition(verified=True))
    assert fits(Condition(label=("VIP",)), replace(HERE, labels=("vip",)))
    assert not fits(Condition(label=("VIP",)))


def test_all_conditions_of_a_route_must_hold() -> None:
    when = Condition(language=("de",), verified=True)
    german = replace(HERE, context={"language": "de"})
    assert not fits(when, german)
    chosen = choose(
        [Route(Condition(verified=False), "agent::a"), Route(when, "agent::b")],
        replace(german, verified=True),
    )
    assert chosen is not None
    assert (chosen.resource_id, chosen.route) == ("agent::b", "route 2, language de, verified")


@pytest.mark.parametrize(
    ("route", "field"),
    [
        (Route(Condition(), "robot::x"), "routes[1].to"),
        (Route(Condition(language=("d", "de")), "x"), "routes[1].when.language[0]"),
        (Route(Condition(matches=("*",)), "x"), "routes[1].when.matches[0]"),
        (Route(Condition(matches=("x" * 201,)), "x"), "routes[1].when.matches[0]"),
        (Route(Condition(matches=("x",) * 21), "x"), "routes[1].when.matches"),
        (Route(Condition(groups=(" ",)), "x"), "routes[1].when.group[0]"),
        (Route(Condition(label=("\0",)), "x"), "routes[1].when.label[0]"),
        (Route(Condition(hours=Hours("9:00", "17:00")), "x"), "routes[1].when.hours.from"),
        (Route(Condition(hours=Hours("24:00", "17:00")), "x"), "routes[1].when.hours.from"),
        (Route(Condition(hours=Hours("09:00", "17:60")), "x"), "routes[1].when.hours.to"),
        (Route(Condition(hours=Hours("09:00", "09:00")), "x"), "routes[1].when.hours.to"),
        (Route(Condition(hours=Hours("09:00", "17:00", ("monday",))), "x"), "routes[1].when.hours.days"),
        (Route(Condition(hours=Hours("09:00", "17:00", (), "../x")), "x"), "routes[1].when.hours.timeZone"),
        (Route(Condition(share=1.1), "x"), "routes[1].when.share"),
        (Route(Condition(share=float("nan")), "x"), "routes[1].when.share"),
    ],
)
def test_a_fault_is_told_with_its_place(route: Route, field: str) -> None:
    faults = list(routing_faults([Route(Condition(), "agent::fine"), route], ["agent::fine"]))
    assert [fault.field for fault in faults] == [field]
    assert re.search("must|has", faults[0].message)


def test_numbers_of_routes_and_fallbacks_are_bounded() -> None:
    too_many = [Route(Condition(), "x")] * 21
    assert [fault.field for fault in routing_faults(too_many, ["x"] * 6)] == ["routes", "fallback"]
    assert [fault.field for fault in routing_faults([], ["x", "a b"])] == ["fallback[1]"]
