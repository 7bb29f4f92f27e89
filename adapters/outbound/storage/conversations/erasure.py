"""Erases conversations: at once where somebody asks for it, else some time after their last message.

Of what must be recognised when it comes again only the platform's ids stay for a while: the key of an event, and the
id of a message that was sent.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from adapters.outbound.storage.codec import ERASED, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.sends import KEY_HOURS
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus, QueueKind, queued_sql
from adapters.outbound.storage.retention.rules import NOW

OF_SESSION = "instance_id = %(instance)s AND session_key = %(session)s"

SENDERS = rf"""
SELECT DISTINCT substring(event FROM '^\{{"session":"(?:[^"\\]|\\.)*","sender":("(?:[^"\\]|\\.)*")')
FROM inbox WHERE {OF_SESSION}
"""
"""The ids of all who wrote, as JSON texts: an event begins with session and sender. Index `inbox_by_session`."""

EVENTS = f"""
UPDATE inbox SET event = '{{{{}}}}', session_key = '{ERASED}', answer = NULL, result = NULL, draft = NULL,
    error = NULL, status = {EventStatus.DONE}, await_until = NULL, finished_at = coalesce(finished_at, now())
WHERE {OF_SESSION}{{more}} RETURNING id
"""
ALL_EVENTS = EVENTS.format(more="")
"""Work on an event that is under way stores nothing: the event has an outcome now. Index `inbox_by_session`."""
FINISHED_EVENTS = EVENTS.format(more=f" AND status <> {EventStatus.QUEUED}")

ALL_SENDS = f"DELETE FROM send WHERE {OF_SESSION} RETURNING id"
"""Index `send_by_session`."""
OLD_SENDS = f"""
DELETE FROM send WHERE {OF_SESSION}
AND (idempotency_key IS NULL OR created_at < {NOW} - interval '{KEY_HOURS} hours') RETURNING id
"""

_BY_EVENT, _BY_SEND = "inbox_id = ANY(%(events)s)", "send_id = ANY(%(sends)s)"
_BLANK = f"""
UPDATE outbox SET message = '{{{{}}}}', target = '{{{{}}}}', last_error = NULL
WHERE {{of}} AND status = {MessageStatus.SENT} AND ref IS NOT NULL
"""
_DELETE = f"DELETE FROM outbox WHERE {{of}} AND status = {MessageStatus.SENT} AND ref IS NULL"
SENT = tuple(statement.format(of=of) for of in (_BY_EVENT, _BY_SEND) for statement in (_BLANK, _DELETE))
"""Indexes `outbox_by_event` and `outbox_by_send`."""
UNSENT = (
    f"DELETE FROM outbox WHERE {queued_sql(QueueKind.OUTBOUND, 'outbox', '%(instance)s', '%(session)s')}",
    f"DELETE FROM outbox WHERE {OF_SESSION} AND status = {MessageStatus.DEAD}",
)
"""Indexes `outbox_by_queue` and `outbox_dead`."""

FILES = f"""
WITH gone AS (DELETE FROM message_file WHERE {OF_SESSION} RETURNING blob_key), counted AS (
    SELECT blob_key, count(*) AS count FROM gone GROUP BY 1
)
UPDATE blob b SET reference_count = greatest(0, b.reference_count - c.count) FROM counted c WHERE b.key = c.blob_key
RETURNING b.key
"""
"""Index `message_file_by_session`, and the primary key of `blob`."""

ALIASES = f"DELETE FROM session_alias WHERE {OF_SESSION}"
"""Index `session_alias_by_session`."""
MODEL = f"DELETE FROM chat_history WHERE {OF_SESSION}"
SHOWN = f"DELETE FROM web_chat WHERE {OF_SESSION}"
"""What the web chat shows. Index `web_chat_session`."""
APPROVALS = tuple(
    f"DELETE FROM {table} WHERE {OF_SESSION}"
    for table in ("tool_confirmation", "tool_approval", "event_log", "unanswered")
)
NOTICES = "DELETE FROM access_notice WHERE instance_id = %(instance)s AND external_id = ANY(%(senders)s)"
CORRESPONDENTS = f"""
DELETE FROM queue WHERE kind = {QueueKind.CORRESPONDENT} AND instance_id = %(instance)s
AND session_key = ANY(%(senders)s)
"""
QUEUES = f"""
DELETE FROM queue WHERE kind IN ({QueueKind.INBOUND}, {QueueKind.OUTBOUND}) AND {OF_SESSION}
"""
"""Primary keys, and `event_log_by_session`."""


class Erasure:
    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def erase(self, instance_id: int, session_id: str) -> Sequence[str] | None:
        """The keys of the blobs that the conversation had. None where nothing was on record of it."""
        session: dict[str, Any] = {"instance": instance_id, "session": key_of(session_id)}
        async with self._database.transaction() as connection:
            rows = await (await connection.execute(SENDERS, session)).fetchall()
            senders = [key_of(orjson.loads(sender)) for (sender,) in rows if sender]
            count = await erase_texts(connection, session, ALL_EVENTS, ALL_SENDS)
            keys = await column(connection, FILES, session)
            count += len(keys)
            for statement in (*UNSENT, ALIASES, MODEL, SHOWN, *APPROVALS, NOTICES, CORRESPONDENTS, QUEUES):
                cursor = await connection.execute(statement, {**session, "senders": senders})
                count += cursor.rowcount
        return keys if count else None


async def erase_texts(connection: Connection, session: dict[str, Any], events: str, sends: str) -> int:
    """Erases what was said by the statements on events and on sends, and what was sent of it; how many rows.

    Events come first, as in all statements: what is under way cannot answer them afterwards."""
    ids = {
        "events": await column(connection, events, session),
        "sends": await column(connection, sends, session),
    }
    count = sum(map(len, ids.values()))
    for statement in SENT:
        count += (await connection.execute(statement, ids)).rowcount
    return count


async def column(connection: Connection, statement: str, parameters: dict[str, Any]) -> list[Any]:
    cursor = await connection.execute(statement, parameters)
    return [value for (value,) in await cursor.fetchall()]
