"""Erases conversations with their files: on request, and some time after their last message.

The key of an event and the id of a sent message stay for a while, to recognise what comes again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from adapters.outbound.storage.codec import ERASED, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import BULK_SECONDS, Connection, Database
from adapters.outbound.storage.queue.sends import KEY_HOURS
from adapters.outbound.storage.queue.statements import ASYNC_COMMIT, EventStatus, MessageStatus, QueueKind
from adapters.outbound.storage.retention import NOW

IS_ERASED = "SELECT event = '{}' FROM inbox WHERE id = %s FOR SHARE"
"""Waits for an erasure that is under way, and keeps one off until the transaction is over. Primary key."""


async def is_erased(connection: Connection, inbox_id: int | None) -> bool:
    """Return True if a message was erased meanwhile; part of the transaction that would store something of it."""
    if inbox_id is None:
        return False
    row = await (await connection.execute(IS_ERASED, (inbox_id,))).fetchone()
    return bool(row and row[0])


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
    """
    DELETE FROM outbox
    WHERE (instance_id + 0, session_key || '', status + 0) = (%(instance)s, %(session)s, 0)
    AND hashtextextended(session_key, instance_id) = hashtextextended(%(session)s, %(instance)s)
    """,
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


@retried
async def erase(database: Database, instance_id: int, session_id: str) -> Sequence[str] | None:
    """The keys of the blobs that the conversation had. None where nothing was on record of it."""
    session: dict[str, Any] = {"instance": instance_id, "session": key_of(session_id)}
    async with database.transaction() as connection:
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


BATCH = 500
LONGEST_CHAT = 1000
"""Messages of a conversation that the web chat keeps."""
LOOP_MEMORY = timedelta(hours=1)
"""So long after its last message a conversation keeps the row of its queue, by which loops are known."""

_IDLE = f"""
q.kind = {QueueKind.INBOUND} AND q.pending = 0 AND q.owner IS NULL AND q.touched_at < {NOW} - %(kept)s
AND NOT EXISTS (SELECT FROM queue o WHERE o.kind = {QueueKind.OUTBOUND} AND o.instance_id = q.instance_id
    AND o.session_key = q.session_key AND o.pending > 0)
"""
SILENT = f"""
SELECT q.touched_at, q.instance_id, q.session_key FROM queue q WHERE {_IDLE}
AND (q.touched_at, q.instance_id, q.session_key) > (%(at)s, %(instance)s, %(session)s)
ORDER BY q.touched_at, q.instance_id, q.session_key LIMIT {BATCH}
"""
"""Index `queue_touched`, and the primary key."""

LOCK = f"""
SELECT {ASYNC_COMMIT} FROM queue q WHERE {_IDLE} AND q.{OF_SESSION.replace(" AND ", " AND q.")} FOR UPDATE SKIP LOCKED
"""
"""Nothing waits for the disk: what a crash of the database takes back is erased again."""
IS_DEAD = f"SELECT 1 FROM outbox WHERE {OF_SESSION} AND status = {MessageStatus.DEAD} LIMIT 1"
"""Index `outbox_dead`."""
FORGET = f"""
{QUEUES} AND touched_at < {NOW} - %(memory)s AND NOT EXISTS (SELECT FROM send WHERE {OF_SESSION})
"""
"""A send with an idempotency key is kept as long as that. Primary key, and index `send_by_session`."""


OLD_CHATS = f"""
DELETE FROM web_chat WHERE id IN (
    SELECT c.id FROM web_chat c WHERE touched_at < {NOW} - %(kept)s - interval '2 hours' AND NOT EXISTS (
        SELECT FROM queue q WHERE q.kind = {QueueKind.INBOUND} AND q.instance_id = c.instance_id
        AND q.session_key = c.session_key
    ) ORDER BY touched_at LIMIT {BATCH}
)
"""
"""What the web chat shows of conversations in which nobody has written. Index `web_chat_by_age`, and primary keys."""
LONG_CHATS = f"""
DELETE FROM web_chat_message m USING (
    SELECT c.id, (
        SELECT place FROM web_chat_message n WHERE n.web_chat_id = c.id AND body IS NOT NULL
        ORDER BY place DESC OFFSET {LONGEST_CHAT} LIMIT 1
    ) AS last FROM web_chat c WHERE c.touched_at > {NOW} - interval '2 days'
) c WHERE m.web_chat_id = c.id AND m.place <= c.last
"""
"""Indexes `web_chat_by_age` and `web_chat_message_shown`, and the primary key."""


class ConversationExpiry:
    """`days`: how long texts are kept after the last message of a conversation."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._kept = timedelta(days=days)

    async def clean(self, now: datetime | None = None) -> int:
        """Conversations are erased one by one, so that no lock is held for long; how many. `now`: by another clock
        than the server's."""
        count = 0
        after: dict[str, Any] = {"at": "-infinity", "instance": 0, "session": ""}
        while rows := await self._database.fetch(SILENT, {**after, "kept": self._kept, "now": now}):
            for at, instance_id, session_key in rows:
                after = {"at": at, "instance": instance_id, "session": session_key}
                count += await self._expire(after, now)
            if len(rows) < BATCH:
                break
        chats = {"kept": self._kept, "now": now}
        while await self._database.execute(OLD_CHATS, chats, within=BULK_SECONDS) == BATCH:
            pass
        await self._database.execute(LONG_CHATS, {"now": now}, within=BULK_SECONDS)
        return count

    @retried
    async def _expire(self, session: dict[str, Any], now: datetime | None) -> bool:
        """Return True if it was still silent. Dead letters are kept, and with them the files of the conversation."""
        parameters = {**session, "now": now, "kept": self._kept, "memory": max(self._kept, LOOP_MEMORY)}
        async with self._database.transaction() as connection:
            if not await _exists(connection, LOCK, parameters):
                return False
            await erase_texts(connection, parameters, FINISHED_EVENTS, OLD_SENDS)
            if not await _exists(connection, IS_DEAD, parameters):
                await column(connection, FILES, parameters)
            for statement in (MODEL, SHOWN, FORGET):
                await connection.execute(statement, parameters)
        return True


async def _exists(connection: Connection, statement: str, parameters: dict[str, Any]) -> bool:
    return await (await connection.execute(statement, parameters)).fetchone() is not None
