"""Schedules in PostgreSQL: one indexed query finds what is due, however many instances there are."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.failures import by_halves, is_of_rows, is_rolled_back, retried
from adapters.outbound.storage.inbox import Arrival, addition
from adapters.outbound.storage.leases import NOT_OFFERED
from adapters.outbound.storage.pool import Connection, Database
from domain.channels.messages import Event
from domain.instances.model import Activity
from domain.refusals import Unavailable
from ports.instances import HealthRecorder
from ports.schedules import Due

log = logging.getLogger(__name__)

HANDED_SECONDS = 60
"""How long a leased instance may wait in the queue; after that it is handed to the queue once more, as a queue may
have been emptied. Two hand-overs are one run: a run begins once."""
MOST_APART = 1000
"""So many due instances are looked at where the database refuses to lease one of them."""
UNLEASED = "its polls or firings cannot be begun, as the database refuses that"
TOLD_SECONDS = 300.0
"""How often the log and the health tell of an instance that cannot be leased."""
RUN_SECONDS = 330
"""How long a run may take; a runner that hangs loses its instance after that, a dead one at once."""

DUE = """
SELECT instance_id FROM schedule
WHERE next_run_at <= now() AND (lease_until IS NULL OR lease_until < now())
ORDER BY next_run_at LIMIT %s
"""
LEASE = f"""
UPDATE schedule s SET owner = %s, lease_until = now() + interval '{HANDED_SECONDS} seconds', began_at = NULL
FROM ({DUE} FOR UPDATE SKIP LOCKED) due
WHERE s.instance_id = due.instance_id RETURNING s.instance_id
"""
LEASE_THESE = LEASE.replace("WHERE next_run_at", "WHERE instance_id = ANY(%s) AND next_run_at")

BEGIN = f"""
UPDATE schedule SET owner = %s, began_at = clock_timestamp(),
    lease_until = now() + interval '{RUN_SECONDS} seconds'
WHERE instance_id = %s AND owner IS NOT NULL AND began_at IS NULL AND lease_until > now()
    AND next_run_at IS NOT NULL
RETURNING next_run_at, cursor, failures, began_at
"""

MINE = "instance_id = %s AND owner = %s AND began_at = %s"

FREED = """
UPDATE schedule SET owner = NULL, lease_until = NULL, began_at = NULL, again = false,
    next_run_at = CASE WHEN again AND next_run_at IS NOT NULL THEN least(next_run_at, now()) ELSE next_run_at END
"""

DUE_NOW = """
UPDATE schedule SET again = owner IS NOT NULL,
    next_run_at = CASE WHEN owner IS NULL THEN now() ELSE next_run_at END
WHERE instance_id = %s AND next_run_at IS NOT NULL
"""

HASTEN = """
UPDATE schedule SET next_run_at = now() WHERE instance_id IN (
    SELECT s.instance_id FROM schedule s JOIN channel_instance i ON i.id = s.instance_id
    WHERE i.channel_id = ANY(%s) AND i.status = 'active'
        AND s.next_run_at > now() AND s.owner IS NULL AND s.failures = 0
    ORDER BY s.next_run_at LIMIT %s FOR UPDATE OF s SKIP LOCKED
)
"""

PLAN = """
INSERT INTO schedule (instance_id, next_run_at) SELECT id, %s FROM channel_instance WHERE id = %s
ON CONFLICT (instance_id) DO UPDATE SET next_run_at = excluded.next_run_at, failures = 0, again = false,
    owner = NULL, lease_until = NULL, began_at = NULL
"""

RETIRE = "UPDATE channel_instance SET status = 'retired' WHERE id = %s"


class PostgresSchedules:
    """`arrived` is called after a commit that brought events; `removed` with the id of a buried instance."""

    def __init__(
        self,
        database: Database,
        owner: int,
        arrived: Callable[[], None],
        removed: Callable[[int], None],
        health: HealthRecorder | None = None,
    ) -> None:
        self._health = health
        self._database = database
        self._owner = owner
        self._arrived = arrived
        self._removed = removed
        self._owed: list[Due] = []
        self._refused: dict[int, float] = {}

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        await self._database.execute(PLAN, (at, instance_id))

    async def due_now(self, instance_id: int) -> None:
        await self._database.execute(DUE_NOW, (instance_id,))

    async def run_soon(self, channel_ids: Sequence[str], count: int) -> None:
        await self._database.execute(HASTEN, (list(channel_ids), count))

    async def lease(self, count: int) -> Sequence[int]:
        while self._owed:
            await self.release(self._owed.pop())
        try:
            return [row[0] for row in await self._database.fetch(LEASE, (self._owner, count))]
        except Exception as error:
            if not is_rolled_back(error):
                raise
        return await self._leased_apart()

    async def _leased_apart(self) -> Sequence[int]:
        """An instance whose row the database refuses to lease keeps no others waiting."""
        due = await self._database.fetch(DUE, (MOST_APART,))
        leased: list[int] = []

        async def lease(instance_ids: Sequence[int]) -> None:
            rows = await self._database.fetch(
                LEASE_THESE, (self._owner, list(instance_ids), len(instance_ids))
            )
            leased.extend(row[0] for row in rows)

        refused = await by_halves([instance_id for (instance_id,) in due], lease)
        for instance_id, error in refused:
            if time.monotonic() - self._refused.get(instance_id, -TOLD_SECONDS) >= TOLD_SECONDS:
                self._refused[instance_id] = time.monotonic()
                log.error("a run cannot be leased", exc_info=error, extra={"instance": instance_id})
                if self._health:
                    reason = f"{UNLEASED}: {type(error).__name__}"
                    await self._health.failed(instance_id, Activity.RECEIVING, reason)
        return leased

    async def begin(self, instance_id: int) -> Due | None:
        row = await self._database.fetch_one(BEGIN, (self._owner, instance_id))
        return Due(instance_id, row[0], orjson.loads(row[1]) if row[1] else None, *row[2:]) if row else None

    @retried
    async def finish(
        self,
        due: Due,
        events: Sequence[Event],
        cursor: Mapping[str, Any] | None,
        at: datetime | None,
        *,
        retire: bool = False,
    ) -> Sequence[bool | None] | None:
        stored = dump(cursor) if cursor is not None else None
        arrivals = [Arrival.of(due.instance_id, event) for event in events]
        async with self._database.transaction() as connection:
            finished = await connection.execute(
                f"UPDATE schedule SET cursor = coalesce(%s, cursor), next_run_at = %s, failures = 0 WHERE {MINE}",
                (stored, at, *self._key(due)),
            )
            if finished.rowcount == 0:
                return None
            fresh, lost = await self._added(connection, arrivals)
            if retire:
                await connection.execute(RETIRE, (due.instance_id,))
        if retire:
            self._removed(due.instance_id)
        if fresh:
            self._arrived()
        return [None if each.event_key in lost else each.event_key in fresh for each in arrivals]

    async def _added(self, connection: Connection, arrivals: Sequence[Arrival]) -> tuple[set[str], set[str]]:
        """The keys of the events that are new, and of those that cannot be stored: these do not cost the others."""
        if not arrivals:
            return set(), set()
        try:
            async with connection.transaction():
                statement, columns = addition(arrivals)
                rows = await connection.execute(statement, {**columns, **NOT_OFFERED})
                return {row[1] for row in await rows.fetchall()}, set()
        except Exception as error:
            if not is_of_rows(error, lost=connection.closed):
                raise
            if len(arrivals) == 1:
                log.exception("a polled event cannot be stored", extra={"instance": arrivals[0].instance_id})
                return set(), {arrivals[0].event_key}
        half = len(arrivals) // 2
        fresh, lost = await self._added(connection, arrivals[:half])
        more_fresh, more_lost = await self._added(connection, arrivals[half:])
        return fresh | more_fresh, lost | more_lost

    async def failed(self, due: Due, at: datetime | None) -> None:
        await self._database.execute(
            f"UPDATE schedule SET failures = failures + 1, next_run_at = %s, again = false WHERE {MINE}",
            (at, *self._key(due)),
        )

    async def release(self, due: Due) -> None:
        try:
            await self._free(due)
        except Unavailable:
            self._owed.append(due)
            raise

    async def _free(self, due: Due) -> None:
        await self._database.execute(f"{FREED} WHERE {MINE}", self._key(due))

    def _key(self, due: Due) -> tuple[Any, ...]:
        return due.instance_id, self._owner, due.began

    async def give_back(self, instance_ids: Sequence[int]) -> None:
        await self._database.execute(
            f"{FREED} WHERE instance_id = ANY(%s) AND owner = %s AND began_at IS NULL",
            (list(instance_ids), self._owner),
        )

    async def free(self, owners: Sequence[int]) -> None:
        """Takes back what dead processes were running."""
        await self._database.execute(f"{FREED} WHERE owner = ANY(%s)", (list(owners),))

    async def missing(self, channel_ids: Sequence[str]) -> Sequence[int]:
        rows = await self._database.fetch(
            "SELECT id FROM channel_instance i WHERE channel_id = ANY(%s) AND status = 'active'"
            " AND NOT EXISTS (SELECT FROM schedule s WHERE s.instance_id = i.id) ORDER BY id",
            (list(channel_ids),),
        )
        return [row[0] for row in rows]

    async def retire(self, instance_id: int) -> None:
        await self._database.execute(RETIRE, (instance_id,))
        self._removed(instance_id)

    async def bury(self) -> Sequence[int]:
        rows = await self._database.fetch(
            "DELETE FROM channel_instance i WHERE status <> 'active' AND NOT EXISTS"
            " (SELECT FROM queue l WHERE l.kind IN (0, 1) AND l.instance_id = i.id AND l.pending > 0)"
            " RETURNING id"
        )
        for (instance_id,) in rows:
            self._removed(instance_id)
        return [row[0] for row in rows]
