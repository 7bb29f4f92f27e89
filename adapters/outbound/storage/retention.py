"""Deletes finished rows after some days, and queues that have been idle."""

from adapters.outbound.storage.pool import BULK_SECONDS, Database

BATCH = 5000

STATEMENTS = (
    (
        "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE status <> 0"
        " AND finished_at < now() - make_interval(days => %s) ORDER BY finished_at LIMIT %s)"
    ),
    (
        "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE status = 1"
        " AND finished_at < now() - make_interval(days => %s) ORDER BY finished_at LIMIT %s)"
    ),
    (
        "DELETE FROM queue WHERE (kind, instance_id, session_key) IN"
        " (SELECT kind, instance_id, session_key FROM queue"
        " WHERE pending = 0 AND owner IS NULL AND touched_at < now() - make_interval(days => %s)"
        " ORDER BY touched_at LIMIT %s FOR UPDATE SKIP LOCKED)"
    ),
)
"""Dead letters are kept until somebody drops them."""


class Retention:
    """`days`: how long a redelivery is recognised, and a sent message listed."""

    def __init__(self, database: Database, days: int = 14) -> None:
        self._database = database
        self._days = days

    async def clean(self) -> int:
        """Deletes in batches, so that no lock is held for long; how many rows."""
        count = 0
        for statement in STATEMENTS:
            while deleted := await self._database.execute(
                statement, (self._days, BATCH), within=BULK_SECONDS
            ):
                count += deleted
                if deleted < BATCH:
                    break
        return count + await self._orphans()

    async def _orphans(self) -> int:
        """Rows of instances that were removed while they were being written."""
        count = 0
        for table in ("inbox", "outbox", "queue"):
            count += await self._database.execute(
                f"DELETE FROM {table} t WHERE NOT EXISTS"
                " (SELECT FROM channel_instance i WHERE i.id = t.instance_id)",
                within=BULK_SECONDS,
            )
        return count
