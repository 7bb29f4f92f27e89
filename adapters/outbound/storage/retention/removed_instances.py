"""Rows of instances that are gone. A trigger notes each instance that is removed, whoever removes it."""

from collections.abc import AsyncIterator
from datetime import datetime

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention.steps import Step, Steps

LATE_WRITERS = "1 hour"
"""So long after its removal something may still be stored for an instance, by a transaction that began before."""

REMOVED = f"""
SELECT instance_id, removed_at < now() - interval '{LATE_WRITERS}' FROM removed_instance
ORDER BY removed_at LIMIT 1000
"""
"""Index `removed_instance_by_age`."""
FORGET = "DELETE FROM removed_instance WHERE instance_id = ANY(%s)"

BY_INSTANCE = {
    "inbox": "instance_id = %(instance)s",
    "outbox": "instance_id = %(instance)s",
    "queue": "kind IN (0, 1, 2) AND instance_id = %(instance)s",
    "event_log": "instance_id = %(instance)s AND session_key IS NOT NULL",
    "message_file": "instance_id = %(instance)s",
}
"""Indexes `inbox_by_session`, `outbox_by_instance`, `event_log_by_session` and `message_file_by_session`, and the
primary key of `queue`. Events about the instance itself hold no texts, and go by age."""
DELETES = {
    table: f"""
        WITH gone AS (
            DELETE FROM {table} WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM {table} WHERE {condition} LIMIT %(batch)s FOR UPDATE
            )) RETURNING 1
        ) SELECT count(*), 0 FROM gone
    """
    for table, condition in BY_INSTANCE.items()
}


class RemovedInstances(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        done = []
        for instance, is_settled in await database.fetch(REMOVED):
            for table, statement in DELETES.items():
                for step in self._until_none(table, statement, {"instance": instance}):
                    yield step
            if is_settled:
                done.append(instance)
        if done:
            await database.execute(FORGET, (done,))
