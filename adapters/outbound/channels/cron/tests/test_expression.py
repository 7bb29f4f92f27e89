"""What a cron expression may be, checked against the library that computes the firings."""

from datetime import UTC, datetime

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.cron.schedule import fault, normalized


@pytest.mark.parametrize(
    "expression",
    [
        "* * * * *",
        "0 9 * * 1-5",
        "*/15 0-6/2 1,15 jan-mar,12 MON-fri",
        "5/20 * * * 7",
        "0 0 29 2 *",
        "0 0 30 2 mon",
        "0 0 L * *",
        "0 0 LW * *",
        "0 0 * * 5#2",
        "0 0 * * 5L",
        "  0   0 *\t* *  ",
        "0 9 * * sat-sun",
        "0 9 * * FRI-mon/2,wed",
        "0 9 * * 6-0",
    ],
)
def test_accepts_what_crontab_accepts(expression: str) -> None:
    assert fault(expression) is None


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "has 0"),
        ("* * * *", "has 4"),
        ("0 0 0 * * *", "has 6"),
        ("@daily", "has 1"),
        ("60 * * * *", "the minute (0-59) '60' is not valid"),
        ("* 24 * * *", "the hour (0-23) '24' is not valid"),
        ("* * 0 * *", "the day of month (1-31) '0' is not valid"),
        ("* * 32 * *", "day of month (1-31) '32'"),
        ("* * * 13 *", "the month (1-12 or jan-dec) '13' is not valid"),
        ("* * * * 8", "the weekday (0-7 or sun-sat) '8' is not valid"),
        ("*/0 * * * *", "the minute"),
        ("*/x * * * *", "the minute"),
        ("5-1 * * * *", "the minute"),
        ("0 22-2 * * *", "the hour (0-23) '22-2'"),
        ("0 0 * nov-feb *", "the month (1-12 or jan-dec) 'nov-feb'"),
        ("x * * * *", "the minute (0-59) 'x'"),
        ("1,,2 * * * *", "the minute"),
        ("-1 * * * *", "the minute (0-59) '-1'"),
        ("\N{ARABIC-INDIC DIGIT FIVE} * * * *", "the minute"),
        ("0 0 30 2 *", "never comes in month '2'"),
        ("0 0 31 4,6 *", "never comes"),
        ("0 0 * * 5#6", "the weekday"),
        ("0 0 * * monL", "the weekday"),
        ("0 0 * * fri-mon/-1", "the weekday"),
        ("0 0 * * fri-mon/", "the weekday"),
        ("0 0 * * fri-mon/0", "the weekday"),
        ("9" * 5000 + " * * * *", "the minute"),
        ("0" * 20 + "99 * * * *", "the minute"),
        ("*/" + "0" * 20 + " * * * *", "the minute"),
    ],
)
def test_says_which_field_is_wrong(expression: str, words: str) -> None:
    found = fault(expression)
    assert found is not None
    assert words in found


TERMS = st.sampled_from(
    [
        "*",
        "0",
        "1",
        "5",
        "7",
        "8",
        "12",
        "13",
        "23",
        "24",
        "29",
        "30",
        "31",
        "32",
        "59",
        "60",
        "*/2",
        "*/0",
        "1-5",
        "5-1",
        "2-4/2",
        "7/9",
        "mon",
        "JAN",
        "sat-sun",
        "dec",
        "L",
        "LW",
        "5L",
        "5#2",
        "5#6",
        "#1",
        "x",
        "-1",
        "1-",
        "/2",
        "1/",
        "*",
        "*,5",
        "1,2",
        ",",
        "L,3",
    ]
)


@given(st.lists(TERMS, min_size=5, max_size=5).map(" ".join))
def test_agrees_with_the_library_that_computes_the_firings(expression: str) -> None:
    if fault(expression) is None:
        CronSim(normalized(expression), datetime(2026, 1, 1, tzinfo=UTC))
        return
    with pytest.raises(CronSimError):
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))


@given(st.text(alphabet="0123456789*/-,#LW jan\t", max_size=30))
def test_never_accepts_what_the_library_refuses(expression: str) -> None:
    if fault(expression) is None:
        CronSim(normalized(expression), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("weekdays", "listed"),
    [
        ("sat-sun", "6,0"),
        ("fri-mon", "5,6,0,1"),
        ("fri-mon/2,wed", "5,0,WED"),
        ("7-2", "0,1,2"),
        ("6-7,1", "6-7,1"),
        ("mon-fri/2", "MON-FRI/2"),
        ("5/1", "5/1"),
        ("5#2", "5#2"),
    ],
)
def test_a_range_of_weekdays_may_run_over_sunday(weekdays: str, listed: str) -> None:
    assert normalized(f"0  9 * * {weekdays}") == f"0 9 * * {listed}"


@given(st.text(max_size=40))
def test_never_crashes(expression: str) -> None:
    fault(expression)
