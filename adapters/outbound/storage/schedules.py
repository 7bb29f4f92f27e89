"""Schedules in PostgreSQL: one indexed query finds what is due, however many instances there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.inbox import ADD, Arrival, columns
from adapters.outbound.storage.pool import Database
from domain.channels.messages import Event
from ports.schedules import Due

LEASE_SECONDS = 120
"""How long a run may take; a dead runner's instance is taken up after that."""

LEASE = f"""
UPDATE schedule s SET owner = %s, lease_until = now() + interval '{LEASE_SECONDS} seconds'
FROM (
    SELECT instance_id FROM schedule
    WHERE next_run_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY next_run_at LIMIT %s FOR UPDATE SKIP LOCKED
) due
WHERE s.instance_id = due.instance_id RETURNING s.instance_id
"""

FINISH = """
UPDATE schedule SET cursor = coalesce(%s, cursor), next_run_at = %s, failures = 0, owner = NULL,
    lease_until = NULL
WHERE instance_id = %s AND owner IS NOT NULL AND next_run_at = %s
"""

ABANDONED = """
UPDATE schedule SET owner = NULL, lease_until = NULL WHERE owner = ANY(%s)
"""


class PostgresSchedules:
    """`arrived` is called after a commit that brought events; `removed` with the id of a buried instance."""

    def __init__(
        self, database: Database, owner: int, arrived: Callable[[], None], removed: Callable[[int], None]
    ) -> None:
        self._database = database
        self._owner = owner
        self._arrived = arrived
        self._removed = removed

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        await self._database.execute(
            "INSERT INTO schedule (instance_id, next_run_at) SELECT id, %s FROM channel_instance WHERE id = %s"
            " ON CONFLICT (instance_id) DO UPDATE SET next_run_at = excluded.next_run_at, failures = 0,"
            " owner = NULL, lease_until = NULL",
            (at, instance_id),
        )

    async def due_now(self, instance_id: int) -> None:
        await self._database.execute(
            "UPDATE schedule SET next_run_at = now() WHERE instance_id = %s AND owner IS NULL", (instance_id,)
        )

    async def lease(self, count: int) -> Sequence[int]:
        return [row[0] for row in await self._database.fetch(LEASE, (self._owner, count))]

    async def load(self, instance_id: int) -> Due | None:
        row = await self._database.fetch_one(
            "SELECT next_run_at, cursor, failures FROM schedule"
            " WHERE instance_id = %s AND owner IS NOT NULL AND lease_until > now() AND next_run_at IS NOT NULL",
            (instance_id,),
        )
        return Due(instance_id, row[0], orjson.loads(row[1]) if row[1] else None, row[2]) if row else None

    async def finish(
        self, due: Due, events: Sequence[Event], cursor: Mapping[str, Any] | None, at: datetime | None
    ) -> Sequence[bool] | None:
        stored = dump(cursor) if cursor is not None else None
        arrivals = [Arrival.of(due.instance_id, event) for event in events]
        async with self._database.transaction() as connection:
            finished = await connection.execute(FINISH, (stored, at, due.instance_id, due.planned))
            if finished.rowcount == 0:
                return None
            rows = await (await connection.execute(ADD, columns(arrivals))).fetchall() if events else []
        if rows:
            self._arrived()
        fresh = {key for _, key, _ in rows}
        return [each.event_key in fresh for each in arrivals]

    async def failed(self, due: Due, at: datetime | None) -> None:
        await self._database.execute(
            "UPDATE schedule SET failures = failures + 1, next_run_at = %s, owner = NULL, lease_until = NULL"
            " WHERE instance_id = %s AND owner IS NOT NULL AND next_run_at = %s",
            (at, due.instance_id, due.planned),
        )

    async def release(self, instance_ids: Sequence[int]) -> None:
        await self._database.execute(
            "UPDATE schedule SET owner = NULL, lease_until = NULL WHERE instance_id = ANY(%s) AND owner = %s",
            (list(instance_ids), self._owner),
        )

    async def free(self, owners: Sequence[int]) -> None:
        """Takes back what dead processes were running."""
        await self._database.execute(ABANDONED, (list(owners),))

    async def missing(self, channel_ids: Sequence[str]) -> Sequence[int]:
        rows = await self._database.fetch(
            "SELECT id FROM channel_instance i WHERE channel_id = ANY(%s) AND status = 'active'"
            " AND NOT EXISTS (SELECT FROM schedule s WHERE s.instance_id = i.id) ORDER BY id",
            (list(channel_ids),),
        )
        return [row[0] for row in rows]

    async def retire(self, instance_id: int) -> None:
        await self._database.execute(
            "UPDATE channel_instance SET status = 'retired' WHERE id = %s", (instance_id,)
        )
        self._removed(instance_id)

    async def bury(self) -> Sequence[int]:
        rows = await self._database.fetch(
            "DELETE FROM channel_instance i WHERE status <> 'active' AND NOT EXISTS"
            " (SELECT FROM lane l WHERE l.kind IN (0, 1) AND l.instance_id = i.id AND l.pending > 0)"
            " RETURNING id"
        )
        for (instance_id,) in rows:
            self._removed(instance_id)
        return [row[0] for row in rows]
