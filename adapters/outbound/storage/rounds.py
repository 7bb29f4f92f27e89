"""Rounds of conversations in PostgreSQL: on the row of the lane, which only who holds its lease counts on, and over
all conversations with a correspondent on a row of its own."""

from __future__ import annotations

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.echoes import ECHOES, echo_columns
from adapters.outbound.storage.leases import INBOUND
from adapters.outbound.storage.pool import Database
from ports.inbox import QueuedEvent
from ports.queue import QueueKey
from ports.sessions import Round

COUNT = f"""
WITH {ECHOES}, event AS (
    SELECT i.received_at AS at, coalesce(l.replied_at < i.received_at, false) AS begins, array(
        SELECT r FROM unnest(l.rounds) r WHERE r > i.received_at - make_interval(secs => %(window)s)
    ) AS recent
    FROM inbox i JOIN queue l ON l.kind = %(kind)s AND l.instance_id = i.instance_id AND l.session_key = %(lane)s
    WHERE i.id = %(id)s
), counted AS (
    SELECT at, begins, CASE WHEN begins THEN recent || at ELSE recent END AS rounds FROM event
)
UPDATE queue l SET replied_at = CASE WHEN c.begins THEN NULL ELSE l.replied_at END,
    rounds = CASE WHEN cardinality(c.rounds) > %(most)s THEN array_fill(c.at, ARRAY[%(most)s + 1]) ELSE c.rounds END
FROM counted c WHERE l.kind = %(kind)s AND l.instance_id = %(instance)s AND l.session_key = %(lane)s
RETURNING cardinality(l.rounds), EXISTS (SELECT FROM echoes)
"""
"""Over `most` rounds each further event counts as all of them, so that the window must pass without an event."""

CORRESPONDENT = 2
"""The kind of the rows that count over all conversations with a correspondent; the queue leaves them alone."""

REPLIED = """
INSERT INTO queue AS l (kind, instance_id, session_key, pending, replied_at) VALUES (%s, %s, %s, 0, now())
ON CONFLICT (kind, instance_id, session_key) DO UPDATE
    SET replied_at = coalesce(l.replied_at, excluded.replied_at), touched_at = now()
"""


class PostgresRounds:
    """`ports.storage.Rounds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, key: QueueKey, waiting: QueuedEvent, most: int, window: float) -> Round:
        parameters = {
            **echo_columns([(waiting.id, key.instance_id, key.session_key, waiting.event)]),
            "kind": INBOUND,
            "id": waiting.id,
            "instance": key.instance_id,
            "lane": key.session_key,
            "most": most,
            "window": window,
        }
        row = await self._database.fetch_one(COUNT, parameters)
        counted = Round(*row) if row else Round(0, echo=False)
        if counted.echo or not waiting.event.correspondent:
            return counted
        of_all = {"kind": CORRESPONDENT, "lane": key_of(waiting.event.correspondent)}
        row = await self._database.fetch_one(COUNT, parameters | of_all)
        return Round(max(counted.count, row[0]), echo=False) if row else counted

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        await self._database.execute(REPLIED, (CORRESPONDENT, key.instance_id, key_of(correspondent)))
