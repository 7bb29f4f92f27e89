"""Prometheus metrics: of messages, and of certificates."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

import prometheus_client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from adapters.outbound.net.tls import WatchedFiles
from adapters.version import VERSION

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # the times at which metrics were made; nobody asks for them

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
"""Bounds of the buckets of histograms."""


class PrometheusMeter:
    """Counts what the domain tells of; what waits is asked of the database when scraped."""

    def __init__(self) -> None:
        self.registry = prometheus_client.CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        prometheus_client.Info("switchboard_build", "Version of this process", registry=self.registry).info(
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

    def _counter(self, name: str, meaning: str, *labels: str) -> prometheus_client.Counter:
        return prometheus_client.Counter(f"switchboard_{name}", meaning, labels, registry=self.registry)

    def _seconds(self, name: str, meaning: str, *labels: str) -> prometheus_client.Histogram:
        name = f"switchboard_{name}_seconds"
        return prometheus_client.Histogram(name, meaning, labels, registry=self.registry, buckets=SECONDS)

    def received(self, channel_id: str, kind: str) -> None:
        self._received.labels(channel_id, kind).inc()

    def refused(self, channel_id: str, reason: str) -> None:
        self._refused.labels(channel_id, reason).inc()

    def accepted(self, channel_id: str, fresh: bool) -> None:
        (self._accepted if fresh else self._duplicates).labels(channel_id).inc()

    def processed(self, channel_id: str, outcome: str, waited: float) -> None:
        self._processed.labels(channel_id, outcome).inc()
        self._waited.labels(channel_id).observe(waited)

    def downstream(self, kind: str, outcome: str, seconds: float) -> None:
        self._downstream.labels(kind, outcome).observe(seconds)

    def throttled(self, channel_id: str, reason: str) -> None:
        self._throttled.labels(channel_id, reason).inc()

    def delivered(self, channel_id: str, outcome: str, seconds: float) -> None:
        self._delivered.labels(channel_id, outcome).observe(seconds)

    def exchanged(self, host: str, outcome: str, seconds: float) -> None:
        self._http.labels(host, outcome).observe(seconds)

    def answered(self, channel_id: str, status: int, seconds: float) -> None:
        """The gateway answered a call of a platform."""
        self._answered.labels(channel_id, status).observe(seconds)

    def exposition(self) -> bytes:
        """The metrics of this process in Prometheus' text format."""
        return prometheus_client.generate_latest(self.registry)

    def removed(self, table: str, count: int) -> None:
        self._removed.labels(table).inc(count)


class CertificateMetrics(Collector):
    """Looked up when scraped. `others`: the ends of certificates that are no file here, by what they are of."""

    def __init__(
        self,
        files: WatchedFiles,
        others: Callable[[], Mapping[str, datetime]],
        registry: prometheus_client.CollectorRegistry,
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
