"""Erases the texts of conversations some days after their last message."""

from datetime import datetime, timedelta
from typing import Any

from adapters.outbound.storage.conversations.erasure import (
    FILES,
    FINISHED_EVENTS,
    MODEL,
    OF_SESSION,
    OLD_SENDS,
    QUEUES,
    SHOWN,
    column,
    erase_texts,
)
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import BULK_SECONDS, Connection, Database
from adapters.outbound.storage.queue.states import ASYNC_COMMIT, MessageStatus, QueueKind
from adapters.outbound.storage.retention.rules import NOW

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
        await self._clean_chats(now)
        return count

    async def _clean_chats(self, now: datetime | None) -> None:
        parameters = {"kept": self._kept, "now": now}
        while await self._database.execute(OLD_CHATS, parameters, within=BULK_SECONDS) == BATCH:
            pass
        await self._database.execute(LONG_CHATS, {"now": now}, within=BULK_SECONDS)

    @retried
    async def _expire(self, session: dict[str, Any], now: datetime | None) -> bool:
        """Whether it was still silent. Dead letters are kept, and with them the files of the conversation."""
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
