"""Prometheus metrics: of messages, and of certificates.

The client library takes a lock for each count, because several threads may count. Here the thread of the event loop
counts alone, in a third of the time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry, Info, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from adapters.outbound.net.tls import WatchedFiles
from adapters.version import VERSION


class PrometheusMeter:
    """Counts what the domain tells of; what waits is asked of the database when scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        Info("switchboard_build", "Version of this process", registry=self.registry).info(
            {"version": VERSION}
        )
        self._received = self._counter("received", "Calls of platforms by what they were", "channel", "kind")
        self._refused = self._counter("refused", "Calls of platforms that were refused", "channel", "reason")
        self._accepted = self._counter("accepted", "Events stored in the inbox", "channel")
        self._duplicates = self._counter("duplicates", "Redelivered events that were dropped", "channel")
        self._processed = self._counter("processed", "Events worked off", "channel", "outcome")
        self._waited = self._seconds(
            "wait", "From the arrival of an event to the start of work on it", "channel"
        )
        self._downstream = self._seconds("downstream", "Runs of downstream resources", "kind", "outcome")
        self._delivered = self._seconds("delivery", "Tries to send a reply part", "channel", "outcome")
        self._throttled = self._counter("throttled", "Replies that had to wait", "channel", "reason")
        self._http = self._seconds("outbound_http", "Outbound HTTP exchanges", "host", "outcome")
        self._answered = self._seconds(
            "callback", "Calls of platforms, from their head to the answer", "channel", "status"
        )
        self._removed = self._counter("removed_rows", "Old rows that were deleted", "table")

    def _counter(self, name: str, meaning: str, *labels: str) -> Counts:
        return Counts(self.registry, name, meaning, *labels)

    def _seconds(self, name: str, meaning: str, *labels: str) -> Durations:
        return Durations(self.registry, name, meaning, *labels)

    def received(self, channel_id: str, kind: str) -> None:
        self._received.add(channel_id, kind)

    def refused(self, channel_id: str, reason: str) -> None:
        self._refused.add(channel_id, reason)

    def accepted(self, channel_id: str, fresh: bool) -> None:
        (self._accepted if fresh else self._duplicates).add(channel_id)

    def processed(self, channel_id: str, outcome: str, waited: float) -> None:
        self._processed.add(channel_id, outcome)
        self._waited.add(waited, channel_id)

    def downstream(self, kind: str, outcome: str, seconds: float) -> None:
        self._downstream.add(seconds, kind, outcome)

    def throttled(self, channel_id: str, reason: str) -> None:
        self._throttled.add(channel_id, reason)

    def delivered(self, channel_id: str, outcome: str, seconds: float) -> None:
        self._delivered.add(seconds, channel_id, outcome)

    def exchanged(self, host: str, outcome: str, seconds: float) -> None:
        """An outbound HTTP exchange ended."""
        self._http.add(seconds, host, outcome)

    def answered(self, channel_id: str, status: int, seconds: float) -> None:
        """The gateway answered a call of a platform."""
        self._answered.add(seconds, channel_id, status)

    def exposition(self) -> bytes:
        """The metrics of this process in Prometheus' text format."""
        return generate_latest(self.registry)

    def removed(self, table: str, count: int) -> None:
        """Old rows were deleted."""
        self._removed.add(table, count=count)


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


class CertificateMetrics(Collector):
    """Looked up when scraped. `others`: the ends of certificates that are no file here, by what they are of."""

    def __init__(
        self, files: WatchedFiles, others: Callable[[], Mapping[str, datetime]], registry: CollectorRegistry
    ) -> None:
        self._files = files
        self._others = others
        registry.register(self)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        expiry = GaugeMetricFamily(
            "switchboard_certificate_expiry_seconds",
            "Until a certificate expires, by its setting or the address of the core that has it",
            labels=["certificate"],
        )
        now = datetime.now(UTC)
        for name, valid_until in {**self._files.valid_until, **self._others()}.items():
            expiry.add_metric([name], (valid_until - now).total_seconds())
        yield expiry
        yield GaugeMetricFamily(
            "switchboard_certificate_faults",
            "1 while files of certificates cannot be used, and the former are",
            value=1.0 if self._files.fault else 0.0,
        )
