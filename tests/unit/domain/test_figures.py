"""Percentiles of histograms, and the shapes of charts."""

from datetime import UTC, datetime

import pytest

from adapters.inbound.console.pages.overview import messages_chart, rounded_up, times_chart
from domain.monitoring.model import BOUNDS, BUCKETS, FAILED, RECEIVED, Counts, Period, counts_of, steps_of

NOW = datetime(2026, 3, 1, 9, 30, 10, tzinfo=UTC)


def test_nothing_counted_has_no_percentiles() -> None:
    assert counts_of({}) == Counts()
    assert counts_of({RECEIVED: 3, FAILED: 2}) == Counts(received=3, failed=2)


def test_percentiles_lie_within_their_buckets() -> None:
    found = counts_of({10: 90, 20: 10})
    assert found.answered == 100
    assert found.p50 is not None
    assert found.p95 is not None
    assert BOUNDS[9] < found.p50 <= BOUNDS[10]
    assert BOUNDS[19] < found.p95 <= BOUNDS[20]


@pytest.mark.parametrize("bucket", [0, BUCKETS])
def test_the_first_and_the_last_bucket_are_open(bucket: int) -> None:
    found = counts_of({bucket: 1})
    assert found.p50 is not None
    assert 0 < found.p50 <= BOUNDS[-1]


def test_bounds_grow_by_a_quarter() -> None:
    assert list(BOUNDS) == sorted(set(BOUNDS))
    assert BOUNDS[-1] > 12 * 3600


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (1, 1), (1.5, 2), (3, 5), (7, 10), (11, 20), (30, 50), (99, 100), (1001, 2000)]
)
def test_charts_end_at_round_values(value: float, top: float) -> None:
    assert rounded_up(value) == top


def test_charts_stack_failures_on_answers_and_leave_gaps() -> None:
    last, before = NOW.replace(second=0), NOW.replace(minute=28, second=0)
    figures = steps_of(Period.HOUR, NOW, {last: {RECEIVED: 4, FAILED: 1, 5: 3}, before: {5: 1}})
    chart = messages_chart(figures)
    assert chart.top == 5
    assert [bar.kind for bar in chart.bars] == ["good", "good", "bad"]
    answered, failed = chart.bars[1:]
    assert failed.y + failed.height == pytest.approx(answered.y)
    assert answered.y + answered.height == pytest.approx(120)
    half = times_chart(figures).lines[1]
    assert (half.kind, half.path.count("M")) == ("p50", 2)
