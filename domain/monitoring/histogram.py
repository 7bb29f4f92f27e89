"""Figures from what was counted: sums by steps, and percentiles from histogram buckets. Pure."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from domain.monitoring.model import Counts, Figure, Figures, Period

SHORTEST = 0.05
GROWTH = 1.25
BUCKETS = 64
BOUNDS = tuple(round(SHORTEST * GROWTH**number, 4) for number in range(BUCKETS))
"""Seconds between which times are counted together, 50 ms to 18 hours: a percentile is at most an eighth off."""

RECEIVED, FAILED = -1, -2
"""Measures beside the numbers of the buckets, which count the answers."""


def steps_of(period: Period, until: datetime, measures: Mapping[datetime, Mapping[int, int]]) -> Figures:
    """All steps of the period that ends with the one of `until`, also those in which nothing happened."""
    step = period.step
    last = datetime.fromtimestamp(until.timestamp() // step * step, until.tzinfo)
    starts = [last - timedelta(seconds=step * number) for number in reversed(range(period.points))]
    total: Counter[int] = Counter()
    for start in starts:
        total.update(measures.get(start, {}))
    points = [Figure(start, counts_of(measures.get(start, {}))) for start in starts]
    return Figures(period, step, until, counts_of(total), points)


def recent(measures: Mapping[datetime, Mapping[int, int]], since: datetime) -> Counts:
    """Of all steps that begin at `since` or later."""
    total: Counter[int] = Counter()
    for start, counted in measures.items():
        if start >= since:
            total.update(counted)
    return counts_of(total)


def counts_of(measures: Mapping[int, int]) -> Counts:
    """`measures`: how often each was counted."""
    buckets = {number: count for number, count in sorted(measures.items()) if number >= 0}
    return Counts(
        received=measures.get(RECEIVED, 0),
        answered=sum(buckets.values()),
        failed=measures.get(FAILED, 0),
        p50=_percentile(buckets, 0.5),
        p95=_percentile(buckets, 0.95),
    )


def _percentile(buckets: Mapping[int, int], part: float) -> float | None:
    """Between the bounds of its bucket in proportion. Bucket 0 lies below the first bound, the last one above the
    last."""
    rank = part * sum(buckets.values())
    for number, count in buckets.items():
        if rank <= count:
            low = BOUNDS[number - 1] if number else 0.0
            high = BOUNDS[min(number, BUCKETS - 1)]
            return round(low + (high - low) * rank / count, 3)
        rank -= count
    return None
