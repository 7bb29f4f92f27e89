"""Prometheus metrics of the database, read at each scrape."""

from datetime import timedelta

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from adapters.outbound.storage.figures import PostgresFigures
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention
from adapters.outbound.system.metrics import PrometheusMeter
from domain.monitoring.model import Period, recent
from domain.refusals import Unavailable

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
    """Metrics of the database. Each process reports the same: take the maximum of them, not the sum."""

    def __init__(self, meter: PrometheusMeter, database: Database, retention: Retention) -> None:
        self._meter, self._database, self._retention = meter, database, retention
        self._presence, self._of_database = CollectorRegistry(), CollectorRegistry()
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
        return Gauge(f"switchboard_{name}", meaning, labels, registry=self._of_database)

    async def exposition(self) -> bytes:
        """The metrics of this process and of the database in Prometheus' text format.

        While the database is away, `switchboard_database_up` is its only metric.
        """
        of_process = self._meter.exposition()
        try:
            queues = {kind: (depth, keys) for kind, depth, keys in await self._database.fetch(QUEUES)}
            [row] = await self._database.fetch(OLDEST)
            for kind, name in NAMES.items():
                depth, keys = queues.get(kind, (0, 0))
                self._depth.labels(name).set(depth)
                self._conversations.labels(name).set(keys)
                self._age.labels(name).set(float(row[kind] or 0.0))
            self._dead.set(row[2])
            self._cooldowns.set(row[3])
            self._breakers.labels("open").set(row[4])
            self._breakers.labels("half_open").set(row[5])
            [(waiting, working, age, size)] = await self._database.fetch(UPLOADS)
            self._uploads.labels("waiting").set(waiting)
            self._uploads.labels("working").set(working)
            self._upload_age.set(float(age or 0.0))
            self._size.set(size)
            until, measures = await PostgresFigures(self._database).measures(Period.HOUR, None)
            counts = recent(measures, until - WINDOW)
            self._answers.clear()  # where nothing was answered no time is told
            for quantile, seconds in zip(QUANTILES, (counts.p50, counts.p95), strict=True):
                if seconds is not None:
                    self._answers.labels(quantile).set(seconds)
            for rows, seconds in (await self._retention.overdue()).items():
                self._overdue.labels(rows).set(seconds)
        except Unavailable:
            self._up.set(0)
            return of_process + generate_latest(self._presence)
        self._up.set(1)
        return of_process + generate_latest(self._presence) + generate_latest(self._of_database)
