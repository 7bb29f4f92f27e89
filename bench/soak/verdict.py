"""Whether the figures of a soak stayed flat: the second half of the time against the first, warm-up aside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import mean, quantiles

from bench.soak.samples import Sample

WARM_UP = 0.2
"""The share of the time in which caches fill and models are loaded."""


@dataclass(frozen=True)
class Row:
    name: str
    first: float
    second: float
    most: float
    """The highest value of the second half that still counts as flat."""

    @property
    def ok(self) -> bool:
        return self.second <= self.most


def halves(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    began, end = samples[0].at, samples[-1].at
    warm = [sample for sample in samples if sample.at >= began + (end - began) * WARM_UP]
    middle = (warm[0].at + end) / 2
    first = [sample for sample in warm if sample.at <= middle]
    return first, [first[-1], *(sample for sample in warm if sample.at > middle)]


def rows(
    samples: Sequence[Sample], acks: Sequence[tuple[float, float]], replies: Sequence[tuple[float, float]]
) -> list[Row]:
    """Allowed growth: 5 % of memory and tables per message, a few connections, half of the times again; 10 % of the
    processor time per message beyond what the machine itself became slower by."""
    first, second = halves(samples)
    machine = _row(
        "a fixed computation, for the speed of the machine (ms)",
        first,
        second,
        lambda sample: sample.machine_ms,
        inf,
        0,
    )
    found = [
        machine,
        _row("memory of the service (MB)", first, second, lambda sample: sample.service_mb, 1.05, 5),
        _row("memory of the database (MB)", first, second, lambda sample: sample.database_mb, 1.10, 20),
        _row("connections to the database", first, second, lambda sample: sample.connections, 1.0, 3),
        _row("age of the oldest waiting row (s)", first, second, lambda sample: sample.oldest_s, 1.5, 2),
        _row("answer of /healthz (ms)", first, second, lambda sample: sample.loop_ms, 1.5, 20),
    ]
    slower = max(1.0, machine.second / machine.first)
    for name, spent in (
        ("service", lambda sample: sample.service_cpu_s),
        ("database", lambda sample: sample.database_cpu_s),
    ):
        before, after = (
            (spent(half[-1]) - spent(half[0])) * 1000 / _messages(half) for half in (first, second)
        )
        found.append(Row(f"processor time per message, {name} (ms)", before, after, before * 1.1 * slower))
    growth = [_growth(half) for half in (first, second)]
    found.append(
        Row("growth of all tables (bytes a message)", *growth, most=max(growth[0], 0.0) * 1.05 + 200)
    )
    for name, times in (("acknowledgement", acks), ("reply", replies)):
        cuts = [_percentiles(times, half) for half in (first, second)]
        for place, (before, after) in zip(("p50", "p99"), zip(*cuts, strict=True), strict=True):
            found.append(Row(f"{name} {place} (ms)", before, after, before * 1.5 + 20))
    return found


def files_at_rest(before: Sample, after: Sample) -> Row:
    """Before the load and a while after it. Under load the number follows how many calls are under way at once."""
    first, second = before.service_files, after.service_files
    return Row("open files of the service at rest, before and after", first, second, most=first + 15)


def _row(
    name: str,
    first: Sequence[Sample],
    second: Sequence[Sample],
    value: Callable[[Sample], float],
    factor: float,
    slack: float,
) -> Row:
    before, after = mean(map(value, first)), mean(map(value, second))
    return Row(name, before, after, before * factor + slack)


def _messages(half: Sequence[Sample]) -> int:
    return max(1, half[-1].messages - half[0].messages)


def _growth(half: Sequence[Sample]) -> float:
    grown = sum(half[-1].tables.values()) - sum(half[0].tables.values())
    return grown / _messages(half)


def tables(samples: Sequence[Sample]) -> list[tuple[str, int, float, float]]:
    """Of the largest tables: the size at the end, and its growth per message in each half."""
    first, second = halves(samples)
    found = []
    for name, size in samples[-1].tables.items():
        grown = [
            (half[-1].tables.get(name, 0) - half[0].tables.get(name, 0)) / _messages(half)
            for half in (first, second)
        ]
        found.append((name, size, grown[0], grown[1]))
    return sorted(found, key=lambda row: row[1], reverse=True)[:12]


def _percentiles(times: Sequence[tuple[float, float]], half: Sequence[Sample]) -> tuple[float, float]:
    values = [seconds * 1000 for at, seconds in times if half[0].at <= at <= half[-1].at]
    if len(values) < 2:
        return 0.0, 0.0
    cuts = quantiles(values, n=100)
    return cuts[49], cuts[98]


def minutes(times: Sequence[tuple[float, float]], began: float) -> list[tuple[int, float, float]]:
    """The percentiles of each minute."""
    by_minute: dict[int, list[float]] = {}
    for at, seconds in times:
        by_minute.setdefault(int((at - began) // 60), []).append(seconds * 1000)
    cuts = {minute: quantiles(values, n=100) for minute, values in by_minute.items() if len(values) > 1}
    return [(minute, cut[49], cut[98]) for minute, cut in sorted(cuts.items())]
