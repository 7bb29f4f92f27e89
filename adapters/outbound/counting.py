"""Counts and durations by labels, for Prometheus.

The client library takes a lock for each of its own, which several threads may count. Here the thread of the event
loop counts alone, in a third of the time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
BOUNDS = (*(str(float(bound)) for bound in SECONDS), "+Inf")

Labels = tuple[object, ...]


class Counts(Collector):
    """A counter for each combination of labels."""

    def __init__(self, registry: CollectorRegistry, name: str, meaning: str, *labels: str) -> None:
        self._name, self._meaning, self._labels = f"switchboard_{name}", meaning, labels
        self._counts: defaultdict[Labels, int] = defaultdict(int)
        registry.register(self)

    def add(self, *labels: object, count: int = 1) -> None:
        self._counts[labels] += count

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._meaning, labels=self._labels)
        for labels, count in self._counts.items():
            family.add_metric([str(label) for label in labels], count)
        yield family


class Durations(Collector):
    """A histogram of seconds for each combination of labels."""

    def __init__(self, registry: CollectorRegistry, name: str, meaning: str, *labels: str) -> None:
        self._name, self._meaning, self._labels = f"switchboard_{name}_seconds", meaning, labels
        self._buckets: defaultdict[Labels, list[int]] = defaultdict(lambda: [0] * len(BOUNDS))
        self._sums: defaultdict[Labels, float] = defaultdict(float)
        registry.register(self)

    def add(self, seconds: float, *labels: object) -> None:
        self._buckets[labels][bisect_left(SECONDS, seconds)] += 1
        self._sums[labels] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily(self._name, self._meaning, labels=self._labels)
        for labels, buckets in self._buckets.items():
            upto = list(zip(BOUNDS, accumulate(buckets), strict=True))
            family.add_metric([str(label) for label in labels], upto, self._sums[labels])
        yield family
