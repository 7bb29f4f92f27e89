"""Rounds in PostgreSQL: of a conversation on the row of its queue, which only the holder of its lease counts on, and
over all conversations with a correspondent on a row of its own."""

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.echoes import ECHOES, echo_columns
from adapters.outbound.storage.queue.states import QueueKind
from ports.queue import QueuedEvent, QueueKey, Round

COUNT = f"""
WITH {ECHOES}, event AS (
    SELECT i.received_at AS at, coalesce(q.replied_at < i.received_at, false) AS begins, array(
        SELECT r FROM unnest(q.rounds) r WHERE r > i.received_at - make_interval(secs => %(window)s)
    ) AS recent
    FROM inbox i JOIN queue q ON q.kind = %(kind)s AND q.instance_id = i.instance_id AND q.session_key = %(session)s
    WHERE i.id = %(id)s
), counted AS (
    SELECT at, begins, CASE WHEN begins THEN recent || at ELSE recent END AS rounds FROM event
)
UPDATE queue q SET replied_at = CASE WHEN c.begins THEN NULL ELSE q.replied_at END,
    rounds = CASE WHEN cardinality(c.rounds) > %(most)s THEN array_fill(c.at, ARRAY[%(most)s + 1]) ELSE c.rounds END
FROM counted c WHERE q.kind = %(kind)s AND q.instance_id = %(instance)s AND q.session_key = %(session)s
RETURNING cardinality(q.rounds), EXISTS (SELECT FROM echoes)
"""
"""Over `most` rounds each further event counts as all of them, so that the window must pass without an event. Primary
keys."""

REPLIED = f"""
INSERT INTO queue AS q (kind, instance_id, session_key, pending, replied_at)
VALUES ({QueueKind.CORRESPONDENT}, %s, %s, 0, now())
ON CONFLICT (kind, instance_id, session_key) DO UPDATE
    SET replied_at = coalesce(q.replied_at, excluded.replied_at), touched_at = now()
"""
"""Primary key."""


class PostgresRounds:
    """`ports.queue.Rounds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, key: QueueKey, queued: QueuedEvent, most: int, window: float) -> Round:
        parameters = {
            **echo_columns([(queued.id, key.instance_id, key.session_key, queued.event)]),
            "kind": QueueKind.INBOUND,
            "id": queued.id,
            "instance": key.instance_id,
            "session": key.session_key,
            "most": most,
            "window": window,
        }
        row = await self._database.fetch_one(COUNT, parameters)
        of_conversation = Round(*row) if row else Round(0, echo=False)
        if of_conversation.echo or not queued.event.correspondent:
            return of_conversation
        of_all = {"kind": QueueKind.CORRESPONDENT, "session": key_of(queued.event.correspondent)}
        row = await self._database.fetch_one(COUNT, parameters | of_all)
        return Round(max(of_conversation.count, row[0]), echo=False) if row else of_conversation

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        await self._database.execute(REPLIED, (key.instance_id, key_of(correspondent)))
