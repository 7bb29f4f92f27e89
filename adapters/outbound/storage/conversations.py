"""Conversations in PostgreSQL: leases, and outcomes recorded by group commit together with the reply parts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from adapters.outbound.storage.batching import Batcher
from adapters.outbound.storage.codec import dump, event_from_json, result_to_json, storable
from adapters.outbound.storage.confirmations import ATTENDED
from adapters.outbound.storage.lanes import INBOUND, Lanes, Side
from adapters.outbound.storage.outages import waited_out
from adapters.outbound.storage.pool import Connection, Database
from ports.storage import Conversation, Lane, Processed, Room, Waiting

SIDE = Side(INBOUND, "inbox", "id event attempts received_at draft", flag=ATTENDED)

RECORD = """
WITH r AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bool[])
      AS t(id, error, result, last)
), done AS (
    UPDATE inbox i SET status = CASE WHEN r.error IS NULL THEN 1 ELSE 2 END, error = r.error,
        result = CASE WHEN i.await_until > now() THEN r.result END, finished_at = now()
    FROM r WHERE i.id = r.id AND i.status = 0
    RETURNING i.id, i.instance_id, i.lane_key, i.await_until > now() AND r.result IS NOT NULL AS awaited, r.last
), parts AS (
    INSERT INTO outbox (instance_id, lane_key, inbox_id, part, target, key)
    SELECT d.instance_id, d.lane_key, d.id, p.part, p.target, p.key
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY
      AS p(inbox_id, part, target, key, n)
    JOIN done d ON d.id = p.inbox_id AND d.awaited IS NOT TRUE
    ORDER BY p.n
    RETURNING instance_id, lane_key
), outbound AS (
    INSERT INTO lane (kind, instance_id, lane_key, pending)
    SELECT 1, instance_id, lane_key, count(*) FROM parts GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (kind, instance_id, lane_key) DO UPDATE SET
        pending = lane.pending + excluded.pending,
        due_at = CASE WHEN lane.pending <= 0 AND lane.owner IS NULL THEN now() ELSE lane.due_at END,
        touched_at = now()
), inbound AS (
    UPDATE lane l SET pending = l.pending - d.n, touched_at = now(),
        owner = CASE WHEN d.last AND l.owner = %s THEN NULL ELSE l.owner END,
        due_at = CASE WHEN d.last AND l.owner = %s THEN now() ELSE l.due_at END
    FROM (
        SELECT instance_id, lane_key, count(*) AS n, bool_or(last) AS last
        FROM done GROUP BY 1, 2 ORDER BY 1, 2
    ) d
    WHERE l.kind = 0 AND l.instance_id = d.instance_id AND l.lane_key = d.lane_key
    RETURNING d.last AND l.pending > 0 AS more
)
SELECT id, awaited, (SELECT count(*) FROM parts), (SELECT bool_or(more) FROM inbound) FROM done
"""

UNTAKEN = """
UPDATE inbox SET taken = true WHERE id IN (
    SELECT id FROM inbox WHERE await_until < now() - interval '2 seconds' AND NOT taken AND result IS NOT NULL
    ORDER BY await_until LIMIT 100 FOR UPDATE SKIP LOCKED
) RETURNING id, instance_id, lane_key, result
"""

ADD_PARTS = """
WITH parts AS (
    INSERT INTO outbox (instance_id, lane_key, inbox_id, part, target, key)
    SELECT %s, %s, %s, p.part, %s, p.key FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS p(part, key, n)
    ORDER BY p.n RETURNING instance_id, lane_key
)
INSERT INTO lane (kind, instance_id, lane_key, pending)
SELECT 1, instance_id, lane_key, count(*) FROM parts GROUP BY 2, 3
ON CONFLICT (kind, instance_id, lane_key) DO UPDATE SET
    pending = lane.pending + excluded.pending,
    due_at = CASE WHEN lane.pending <= 0 AND lane.owner IS NULL THEN now() ELSE lane.due_at END,
    touched_at = now()
"""


@dataclass(frozen=True, slots=True)
class Wakes:
    """Whom a commit concerns: called after it, never inside its transaction."""

    inbound: Callable[[], None]
    outbound: Callable[[], None]
    answered: Callable[[int], None]


class PostgresConversations:
    def __init__(self, database: Database, lanes: Lanes, wakes: Wakes) -> None:
        self._database = database
        self._lanes = lanes
        self._wakes = wakes
        self._batcher: Batcher[Processed, None] = Batcher(self._flush)

    async def lease(self, room: Room) -> Sequence[Conversation]:
        leased = await self._lanes.lease(SIDE, room)
        return [
            Conversation(
                lane,
                [
                    Waiting(id, event_from_json(event), attempts, at, draft or "")
                    for id, event, attempts, at, draft, _ in rows
                ],
                attended=rows[0][-1],
            )
            for lane, rows in leased
        ]

    async def record(self, processed: Processed) -> None:
        await waited_out(lambda: self._batcher.submit(processed.lane, processed))

    async def _flush(self, batch: Sequence[Processed]) -> Sequence[None]:
        parts = [
            (each.inbox_id, dump(part.payload), dump(each.target), str(uuid.uuid4()))
            for each in batch
            for part in each.parts
        ]
        rows = await self._database.fetch(
            RECORD,
            (
                [each.inbox_id for each in batch],
                [each.error and storable(each.error) for each in batch],
                [_result(each) for each in batch],
                [each.last for each in batch],
                *([part[n] for part in parts] for n in range(4)),
                self._lanes.owner,
                self._lanes.owner,
            ),
        )
        self._wake(rows)
        return [None] * len(batch)

    def _wake(self, rows: Sequence[tuple[int, bool | None, int, bool | None]]) -> None:
        for inbox_id, awaited, _, _ in rows:
            if awaited:
                self._wakes.answered(inbox_id)
        if rows and rows[0][2]:
            self._wakes.outbound()
        if rows and rows[0][3]:
            self._wakes.inbound()

    async def drafted(self, inbox_id: int, draft: str) -> None:
        await self._database.execute("UPDATE inbox SET draft = %s WHERE id = %s", (draft, inbox_id))

    async def release(self, lane: Lane, delay: float = 0.0) -> None:
        await self._lanes.release(SIDE, lane, delay)

    async def send_untaken(self) -> int:
        """Answers whose waiting call went away without taking them go out as parts; how many."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(UNTAKEN)
            rows = await cursor.fetchall()
            for inbox_id, instance_id, lane_key, result in rows:
                await self._add_parts(connection, inbox_id, instance_id, lane_key, result)
        if rows:
            self._wakes.outbound()
        return len(rows)

    async def _add_parts(
        self, connection: Connection, inbox_id: int, instance_id: int, lane_key: str, result: str
    ) -> None:
        kept = orjson.loads(result)
        payloads = [dump(part) for part in kept["parts"]]
        keys = [str(uuid.uuid4()) for _ in payloads]
        await connection.execute(
            ADD_PARTS, (instance_id, lane_key, inbox_id, dump(kept["target"]), payloads, keys)
        )

    async def close(self) -> None:
        await self._batcher.close()


def _result(processed: Processed) -> str | None:
    if processed.result is None:
        return None
    return result_to_json(processed.result, [part.payload for part in processed.parts], processed.target)
