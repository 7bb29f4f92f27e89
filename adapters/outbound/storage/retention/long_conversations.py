"""Conversations that go on keep a number of messages."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import QueueKind
from adapters.outbound.storage.retention.rules import NOW, REDELIVERY
from adapters.outbound.storage.retention.steps import Step, Steps

LONGEST_CONVERSATION = 10_000
"""Events of a conversation that are kept, beyond those of the days in which a redelivery is recognised."""
PAGE = 200
"""Conversations that are looked at by one statement."""
ACTIVE = timedelta(days=1)

LONG = f"""
SELECT q.instance_id, q.session_key, q.touched_at, (
    SELECT n.id FROM inbox n WHERE n.instance_id = q.instance_id AND n.session_key = q.session_key
    ORDER BY n.id DESC OFFSET {LONGEST_CONVERSATION} LIMIT 1
) FROM queue q WHERE q.kind = {QueueKind.INBOUND} AND q.pending = 0
    AND (q.touched_at, q.instance_id, q.session_key) > (%(at)s, %(instance)s, %(session)s)
ORDER BY q.touched_at, q.instance_id, q.session_key LIMIT {PAGE}
"""
"""One in which a message waits is looked at another time. Indexes `queue_touched` and `inbox_by_session`."""

DELETE_TURNS = f"""
WITH gone AS (
    DELETE FROM inbox WHERE id IN (
        SELECT i.id FROM inbox i WHERE i.instance_id = %(instance)s AND i.session_key = %(session)s
        AND i.id <= %(last)s AND i.status <> 0 AND i.finished_at < {NOW} - %(kept)s ORDER BY i.id LIMIT %(batch)s
    ) RETURNING 1
) SELECT count(*), 0 FROM gone
"""
"""Index `inbox_by_session`."""


class LongConversations(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        at = await database.fetch_value(f"SELECT {NOW} - %(active)s", {"now": now, "active": ACTIVE})
        after: dict[str, Any] = {"at": at, "instance": 0, "session": ""}
        while rows := await database.fetch(LONG, after):
            for instance, session, at, last in rows:
                after = {"at": at, "instance": instance, "session": session}
                if last is not None:
                    given = {**after, "last": last, "now": now, "kept": REDELIVERY}
                    for step in self._until_none("inbox", DELETE_TURNS, given):
                        yield step
