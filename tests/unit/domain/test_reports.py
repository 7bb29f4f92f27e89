"""Days, dimensions and times of reports."""

from datetime import date

import pytest

from domain.refusals import Invalid
from domain.reports.model import (
    BOUNDS,
    CLOSINGS,
    FIRST_ANSWERS,
    Dimension,
    Measure,
    ReportKey,
    ReportTimes,
    parse_days,
    parse_dimensions,
    row_of,
)

TODAY = date(2026, 3, 31)
ALL = ReportKey(None, None, None, None, None)


def test_without_days_it_is_the_last_thirty() -> None:
    assert parse_days(None, None, TODAY) == (date(2026, 3, 2), TODAY)
    assert parse_days(None, "2026-01-30", TODAY) == (date(2026, 1, 1), date(2026, 1, 30))
    assert parse_days("2026-03-31", None, TODAY) == (TODAY, TODAY)


def test_four_hundred_days_are_the_most() -> None:
    assert parse_days("2025-02-25", None, TODAY) == (date(2025, 2, 25), TODAY)
    with pytest.raises(Invalid, match="400 days"):
        parse_days("2025-02-24", None, TODAY)


@pytest.mark.parametrize(
    "day",
    [
        "2026-3-1",
        "20260301",
        "2026-02-29",
        "2026-W10-1",
        "today",
        "1" * 10_000,
        "\u0662026-03-01",
        "1969-12-31",
    ],
)
def test_other_texts_are_no_days(day: str) -> None:
    for first, last, field in ((day, None, "from"), (None, day, "to")):
        with pytest.raises(Invalid) as refused:
            parse_days(first, last, TODAY)
        assert [fault.field for fault in refused.value.faults] == [field]


def test_dimensions_are_named() -> None:
    assert parse_dimensions(["day", "person", "day"]) == {Dimension.DAY, Dimension.PERSON}
    assert parse_dimensions([]) == {Dimension.DAY}
    with pytest.raises(Invalid, match="year"):
        parse_dimensions(["day", "year"])


def test_nothing_counted_has_no_times() -> None:
    row = row_of(ALL, None, {Measure.MESSAGES: 3})
    assert (row.messages, row.people) == (3, 0)
    assert row.time_to_first_answer == row.time_to_close == ReportTimes()


def test_mean_and_median_of_times() -> None:
    """Three answers within about 3 s and one after a day; the median lies in the bucket of the short ones."""
    short = next(number for number, bound in enumerate(BOUNDS) if bound > 3)
    counts = {
        FIRST_ANSWERS + short: 3,
        FIRST_ANSWERS + short + 25: 1,
        Measure.FIRST_ANSWER_TIME: 86_409_000,
        CLOSINGS: 1,
        Measure.CLOSE_TIME: 500,
    }
    row = row_of(ALL, None, counts)
    assert row.time_to_first_answer.count == 4
    assert row.time_to_first_answer.mean_seconds == pytest.approx(21_602.25)
    assert BOUNDS[short - 1] < (row.time_to_first_answer.median_seconds or 0) < BOUNDS[short]
    assert (row.time_to_close.count, row.time_to_close.mean_seconds) == (1, 0.5)
