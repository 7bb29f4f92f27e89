"""Erases conversations: at once where somebody asks for it, else some time after their last message.

Of what must be recognised when it comes again only the platform's ids stay for a while: the key of an event, and the
id of a message that was sent.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus, QueueKind

_OF_SESSION = "instance_id = %(instance)s AND session_key = %(session)s"

SENDERS = rf"""
SELECT DISTINCT substring(event FROM '^\{{"session":"(?:[^"\\]|\\.)*","sender":("(?:[^"\\]|\\.)*")')
FROM inbox WHERE {_OF_SESSION}
"""
"""The ids of all who wrote, as JSON texts: an event begins with session and sender. Index `inbox_by_session`."""

EVENTS = f"""
UPDATE inbox SET event = '{{}}', session_key = '', answer = NULL, result = NULL, draft = NULL, error = NULL,
    status = {EventStatus.DONE}, await_until = NULL, finished_at = coalesce(finished_at, now())
WHERE {_OF_SESSION} RETURNING id
"""
"""Work on an event that is under way stores nothing: the event has an outcome now. Index `inbox_by_session`."""

SENDS = f"DELETE FROM send WHERE {_OF_SESSION} RETURNING id"
"""Index `send_by_session`."""

SENT = f"""
UPDATE outbox SET message = '{{{{}}}}', target = '{{{{}}}}', last_error = NULL
WHERE {{of}} AND status = {MessageStatus.SENT} AND ref IS NOT NULL
"""
UNSENT = "DELETE FROM outbox WHERE {of} AND NOT (status = {sent} AND ref IS NOT NULL)"
BY_EVENT, BY_SEND = "inbox_id = ANY(%(events)s)", "send_id = ANY(%(sends)s)"
QUEUED = f"DELETE FROM outbox WHERE {_OF_SESSION} AND status = {MessageStatus.PENDING}"
DEAD = f"DELETE FROM outbox WHERE {_OF_SESSION} AND status = {MessageStatus.DEAD}"
OUTBOX = (
    SENT.format(of=BY_EVENT),
    UNSENT.format(of=BY_EVENT, sent=MessageStatus.SENT),
    SENT.format(of=BY_SEND),
    UNSENT.format(of=BY_SEND, sent=MessageStatus.SENT),
    QUEUED,
)
"""Indexes `outbox_by_event`, `outbox_by_send` and `outbox_queued`."""

FILES = f"""
WITH gone AS (DELETE FROM message_file WHERE {_OF_SESSION} RETURNING blob_key), counted AS (
    SELECT blob_key, count(*) AS count FROM gone GROUP BY 1
)
UPDATE blob b SET reference_count = greatest(0, b.reference_count - c.count) FROM counted c WHERE b.key = c.blob_key
RETURNING b.key
"""
"""Index `message_file_by_session`, and the primary key of `blob`."""

REST = tuple(
    f"DELETE FROM {table} WHERE {_OF_SESSION}"
    for table in ("chat_history", "tool_confirmation", "tool_approval", "event_log")
)
NOTICES = "DELETE FROM access_notice WHERE instance_id = %(instance)s AND external_id = ANY(%(senders)s)"
QUEUES = f"""
DELETE FROM queue WHERE kind IN ({QueueKind.INBOUND}, {QueueKind.OUTBOUND}) AND {_OF_SESSION}
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
            count = await _texts(connection, session)
            keys = await _column(connection, FILES, session)
            for statement in (DEAD, *REST, NOTICES, QUEUES):
                cursor = await connection.execute(statement, {**session, "senders": senders})
                count += cursor.rowcount
        return keys if count else None


async def _texts(connection: Connection, session: dict[str, Any]) -> int:
    """Erases what was written; how many rows that were. Events come first, as in all statements: what is under way
    cannot answer them afterwards."""
    events = await _column(connection, EVENTS, session)
    sends = await _column(connection, SENDS, session)
    count = len(events) + len(sends)
    for statement in OUTBOX:
        cursor = await connection.execute(statement, {**session, "events": events, "sends": sends})
        count += cursor.rowcount
    return count


async def _column(connection: Connection, statement: str, parameters: dict[str, Any]) -> list[Any]:
    cursor = await connection.execute(statement, parameters)
    return [value for (value,) in await cursor.fetchall()]
