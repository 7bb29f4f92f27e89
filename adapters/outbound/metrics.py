"""Prometheus metrics of a message's way."""

from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from adapters.outbound.storage.pool import Database
from domain.refusals import Unavailable

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

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
NAMES = {0: "inbound", 1: "outbound"}


class PrometheusMeter:
    """Counts what the domain tells of; queue depth and age are asked of the database when scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
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
        self._depth = self._gauge("queue_depth", "Rows that wait", "queue")
        self._conversations = self._gauge("queue_conversations", "Conversations with rows that wait", "queue")
        self._age = self._gauge("queue_oldest_seconds", "Age of the oldest row that waits", "queue")
        self._dead = self._gauge("dead_letters", "Reply parts that were given up")
        self._cooldowns = self._gauge(
            "delivery_cooldowns", "Accounts and conversations that wait as their platform asked"
        )
        self._breakers = self._gauge("delivery_breakers", "Instances whose platform does not answer", "state")

    def _counter(self, name: str, meaning: str, *labels: str) -> Callable[..., Counter]:
        """The counter of given label values. Remembered, as finding it costs more than counting."""
        return cache(Counter(f"switchboard_{name}", meaning, labels, registry=self.registry).labels)

    def _seconds(self, name: str, meaning: str, *labels: str) -> Callable[..., Histogram]:
        full_name = f"switchboard_{name}_seconds"
        return cache(Histogram(full_name, meaning, labels, buckets=SECONDS, registry=self.registry).labels)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"switchboard_{name}", meaning, labels, registry=self.registry)

    def received(self, channel_id: str, kind: str) -> None:
        self._received(channel_id, kind).inc()

    def refused(self, channel_id: str, reason: str) -> None:
        self._refused(channel_id, reason).inc()

    def accepted(self, channel_id: str, fresh: bool) -> None:
        (self._accepted if fresh else self._duplicates)(channel_id).inc()

    def processed(self, channel_id: str, outcome: str, waited: float) -> None:
        self._processed(channel_id, outcome).inc()
        self._waited(channel_id).observe(waited)

    def downstream(self, kind: str, outcome: str, seconds: float) -> None:
        self._downstream(kind, outcome).observe(seconds)

    def throttled(self, channel_id: str, reason: str) -> None:
        self._throttled(channel_id, reason).inc()

    def delivered(self, channel_id: str, outcome: str, seconds: float) -> None:
        self._delivered(channel_id, outcome).observe(seconds)

    def exchanged(self, host: str, outcome: str, seconds: float) -> None:
        """An outbound HTTP exchange ended."""
        self._http(host, outcome).observe(seconds)

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    async def scrape(self, database: Database | None) -> bytes:
        """The same, queues included while the database answers."""
        if database is not None:
            try:
                await self._look(database)
            except Unavailable:
                self._depth.clear()
        return self.exposition()

    async def _look(self, database: Database) -> None:
        found = {kind: (depth, keys) for kind, depth, keys in await database.fetch(QUEUES)}
        row = await database.fetch_one(OLDEST)
        assert row is not None
        for kind, name in NAMES.items():
            depth, keys = found.get(kind, (0, 0))
            self._depth.labels(name).set(depth)
            self._conversations.labels(name).set(keys)
            self._age.labels(name).set(float(row[kind] or 0.0))
        self._dead.set(row[2])
        self._cooldowns.set(row[3])
        self._breakers.labels("open").set(row[4])
        self._breakers.labels("half_open").set(row[5])
