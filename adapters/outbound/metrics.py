"""Prometheus metrics of a message's way."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Info, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from adapters.outbound.counting import Counts, Durations
from adapters.version import VERSION

if TYPE_CHECKING:
    from adapters.outbound.database_metrics import DatabaseMetrics
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
        from adapters.outbound.database_metrics import DatabaseMetrics

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
