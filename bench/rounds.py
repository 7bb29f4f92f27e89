"""Cases measured in turn, round by round: medians, and how far the rounds lie apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median, quantiles

TRUSTED = 0.10
"""A figure whose spread exceeds this says so."""


@dataclass(frozen=True)
class Sample:
    """One case in one round. CPU time in microseconds for each request or message: of the processes that are
    compared, and of all processes of PostgreSQL."""

    rate: float
    service_us: float
    database_us: float = 0.0
    p50_ms: float = nan
    p95_ms: float = nan
    p99_ms: float = nan

    @property
    def all_us(self) -> float:
        return self.service_us + self.database_us


Samples = dict[str, list[Sample]]
Value = Callable[[Sample], float]
COLUMNS = ("service_us", "all_us", "rate")


def interleaved(cases: Mapping[str, Callable[[], Sample]], rounds: int, *, warm: bool = True) -> Samples:
    """Each case once in every round, in an order that moves on by one; a round before the first only warms up."""
    names = list(cases)
    if warm:
        for measure in cases.values():
            measure()
    samples: Samples = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            samples[name].append(cases[name]())
        print(f"  round {number + 1} of {rounds}", flush=True)
    return samples


@dataclass(frozen=True)
class Figure:
    """The median of the rounds. `spread` is the distance between the quartiles against the median."""

    median: float
    spread: float
    form: str = "{:.2f}"

    @classmethod
    def of(cls, values: Sequence[float], form: str = "{:.2f}") -> Figure:
        middle = median(values)
        if len(values) < 2 or not middle:
            return cls(middle, 0.0, form)
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(middle, (high - low) / middle, form)

    def __str__(self) -> str:
        doubt = ": do not trust" if self.spread > TRUSTED else ""
        return f"{self.form.format(self.median)} ({100 * self.spread:.0f} %{doubt})"


def ratio(samples: Samples, above: str, below: str, value: str, form: str = "{:.2f}") -> Figure:
    """The ratio of two cases in each round: what disturbs a whole round disturbs both."""
    pairs = zip(samples[above], samples[below], strict=True)
    return Figure.of([getattr(one, value) / getattr(other, value) for one, other in pairs], form)


def middle_of(samples: Samples, name: str, value: str) -> float:
    return median([float(getattr(sample, value)) for sample in samples[name]])
