"""Prometheus metrics: of a message's way, of the database (read at each scrape) and of certificates.

The client library takes a lock for each count, because several threads may count. Here the thread of the event loop
counts alone, in a third of the time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, Info, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from adapters.outbound.net.tls import WatchedFiles
from adapters.outbound.storage.figures import PostgresFigures
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention
from adapters.version import VERSION
from domain.monitoring.model import Period, recent
from domain.refusals import Unavailable

if TYPE_CHECKING:
    from adapters.outbound.storage.pool import Database
    from adapters.outbound.storage.retention import Retention


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

    @cached_property
    def _database(self) -> DatabaseMetrics:
        """Made where they are asked for: a gateway alone has no database, and spares its libraries."""

        return DatabaseMetrics()

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

    async def scrape(self, database: Database, retention: Retention) -> bytes:
        """The same, and those of the database."""
        return self.exposition() + await self._database.exposition(database, retention)


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


QUEUES = """
SELECT kind, coalesce(sum(pending), 0), count(*) FROM queue WHERE pending > 0 GROUP BY kind
"""
OLDEST = """
SELECT (SELECT extract(epoch FROM now() - min(received_at)) FROM inbox WHERE status = 0),
       (SELECT extract(epoch FROM now() - min(created_at)) FROM outbox WHERE status = 0),
       (SELECT count(*) FROM outbox WHERE status = 2),
       (SELECT count(*) FROM send_cooldown WHERE until > now()),
       (SELECT count(*) FROM send_breaker WHERE until > now()),
       (SELECT count(*) FROM send_breaker WHERE until <= now())
"""
UPLOADS = """
SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1),
       extract(epoch FROM now() - min(created_at)), pg_database_size(current_database())
FROM kb_upload WHERE state < 2
"""
NAMES = {0: "inbound", 1: "outbound"}
WINDOW = timedelta(minutes=5)
"""Of the answers whose times are told."""
QUANTILES = ("0.5", "0.95")


class DatabaseMetrics:
    """The same from each process that asks: an installation has the greatest of them, not their sum."""

    def __init__(self) -> None:
        self._presence, self._found = CollectorRegistry(), CollectorRegistry()
        self._up = Gauge(
            "switchboard_database_up", "Whether the database answered just now", registry=self._presence
        )
        self._depth = self._gauge("queue_depth", "Rows that wait", "queue")
        self._conversations = self._gauge("queue_conversations", "Conversations with rows that wait", "queue")
        self._age = self._gauge("queue_oldest_seconds", "Age of the oldest row that waits", "queue")
        self._dead = self._gauge("dead_letters", "Reply parts that were given up")
        self._cooldowns = self._gauge(
            "delivery_cooldowns", "Accounts and conversations that wait as their platform asked"
        )
        self._breakers = self._gauge("delivery_breakers", "Instances whose platform does not answer", "state")
        self._uploads = self._gauge("uploads", "Uploads to knowledge bases that are not done", "state")
        self._upload_age = self._gauge("upload_oldest_seconds", "Age of the oldest upload that is not done")
        self._size = self._gauge("database_bytes", "Size of the database on its disk")
        self._overdue = self._gauge(
            "overdue_seconds", "For how long the oldest row has been older than its limit", "rows"
        )
        self._answers = self._gauge(
            "answer_seconds", "From a message to its answer, over the last five minutes", "quantile"
        )

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"switchboard_{name}", meaning, labels, registry=self._found)

    async def exposition(self, database: Database, retention: Retention) -> bytes:
        """In Prometheus' text format; nothing but `switchboard_database_up` while the database is away."""
        try:
            await self._look(database)
            for rows, seconds in (await retention.overdue()).items():
                self._overdue.labels(rows).set(seconds)
        except Unavailable:
            self._up.set(0)
            return generate_latest(self._presence)
        self._up.set(1)
        return generate_latest(self._presence) + generate_latest(self._found)

    async def _look(self, database: Database) -> None:
        queues = {kind: (depth, keys) for kind, depth, keys in await database.fetch(QUEUES)}
        [row] = await database.fetch(OLDEST)
        for kind, name in NAMES.items():
            depth, keys = queues.get(kind, (0, 0))
            self._depth.labels(name).set(depth)
            self._conversations.labels(name).set(keys)
            self._age.labels(name).set(float(row[kind] or 0.0))
        self._dead.set(row[2])
        self._cooldowns.set(row[3])
        self._breakers.labels("open").set(row[4])
        self._breakers.labels("half_open").set(row[5])
        [(waiting, working, age, size)] = await database.fetch(UPLOADS)
        self._uploads.labels("waiting").set(waiting)
        self._uploads.labels("working").set(working)
        self._upload_age.set(float(age or 0.0))
        self._size.set(size)
        until, measures = await PostgresFigures(database).measures(Period.HOUR, None)
        counts = recent(measures, until - WINDOW)
        self._answers.clear()  # where nothing was answered no time is told
        for quantile, seconds in zip(QUANTILES, (counts.p50, counts.p95), strict=True):
            if seconds is not None:
                self._answers.labels(quantile).set(seconds)


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
