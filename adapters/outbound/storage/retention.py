"""Deletes finished rows after some days, and queues that have been idle."""

from adapters.outbound.storage.pool import BULK_SECONDS, Database

BATCH = 5000
LONGEST_CONVERSATION = 10_000
"""Events of a conversation that are kept, beyond those of the days in which a redelivery is recognised."""

LONG_CONVERSATIONS = f"""
DELETE FROM inbox WHERE id IN (
    SELECT i.id FROM (
        SELECT q.instance_id, q.session_key, (
            SELECT n.id FROM inbox n WHERE n.instance_id = q.instance_id AND n.session_key = q.session_key
            ORDER BY n.id DESC OFFSET {LONGEST_CONVERSATION} LIMIT 1
        ) AS last FROM queue q WHERE q.kind = 0 AND q.touched_at > now() - interval '1 day'
    ) q JOIN inbox i ON i.instance_id = q.instance_id AND i.session_key = q.session_key AND i.id <= q.last
    WHERE i.status <> 0 AND i.finished_at < now() - make_interval(days => %s) LIMIT %s
)
"""
"""Of conversations that go on. Index `inbox_by_session`."""

STATEMENTS = (
    LONG_CONVERSATIONS,
    (
        "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE event = '{}'"
        " AND finished_at < now() - make_interval(days => %s) ORDER BY finished_at LIMIT %s)"
    ),
    (
        "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE status = 1"
        " AND finished_at < now() - make_interval(days => %s) ORDER BY finished_at LIMIT %s)"
    ),
    (
        "DELETE FROM queue WHERE (kind, instance_id, session_key) IN"
        " (SELECT kind, instance_id, session_key FROM queue"
        " WHERE kind <> 0 AND pending = 0 AND owner IS NULL AND touched_at < now() - make_interval(days => %s)"
        " ORDER BY touched_at LIMIT %s FOR UPDATE SKIP LOCKED)"
    ),
)
"""Erased events, whose keys are kept for so long, what was sent, and queues; conversations have an end of their own.
Dead letters are kept until somebody drops them. Indexes `inbox_erased`, `outbox_finished` and `queue_touched`."""


OLD_EVENTS = (
    "DELETE FROM event_log USING (SELECT make_interval(days => %s) AS kept) k"
    " WHERE seq IN (SELECT seq FROM event_log ORDER BY seq LIMIT %s) AND at < now() - k.kept"
)
"""The oldest events stand first. Primary key."""
OLD_SIGN_INS = (
    "DELETE FROM api_key WHERE id IN (SELECT id FROM api_key WHERE kind <> 'key'"
    " AND expires_at < now() - make_interval(days => %s) ORDER BY expires_at LIMIT %s)"
)
"""Sessions and sign-in links. Index `api_key_expiring`."""
OLD_ROWS = (
    "DELETE FROM event_listener WHERE until < now()",
    "DELETE FROM sign_in_try WHERE until < now()",
)


class Retention:
    """`days`: how long a redelivery is recognised, and a sent message listed; `event_days`: how long events are
    kept."""

    def __init__(self, database: Database, event_days: int, days: int = 14) -> None:
        self._database = database
        self._statements = {**dict.fromkeys(STATEMENTS, days), OLD_EVENTS: event_days, OLD_SIGN_INS: 1}

    async def clean(self) -> int:
        """Deletes in batches, so that no lock is held for long; how many rows."""
        count = 0
        for statement, days in self._statements.items():
            while deleted := await self._database.execute(statement, (days, BATCH), within=BULK_SECONDS):
                count += deleted
                if deleted < BATCH:
                    break
        for statement in OLD_ROWS:
            count += await self._database.execute(statement)
        return count + await self._orphans()

    async def _orphans(self) -> int:
        """Rows of instances that were removed while they were being written."""
        count = 0
        for table in ("inbox", "outbox", "queue", "event_log", "message_file"):
            count += await self._database.execute(
                f"DELETE FROM {table} t WHERE instance_id IS NOT NULL AND NOT EXISTS"
                " (SELECT FROM channel_instance i WHERE i.id = t.instance_id)",
                within=BULK_SECONDS,
            )
        return count
