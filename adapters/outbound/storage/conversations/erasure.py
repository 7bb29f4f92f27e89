"""Erases conversations with their files: on request, and some time after their last message.

The key of an event and the id of a sent message stay for a while, to recognise what comes again.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from adapters.outbound.storage.codec import ERASED, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import BULK_SECONDS, Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.retention import NOW

BATCH = 500
LONGEST_CHAT = 1000
"""Messages of a conversation that the web chat keeps."""
LOOP_MEMORY = timedelta(hours=1)
"""So long after its last message a conversation keeps the row of its queue, by which loops are known."""

SQL = read_statements(
    Path(__file__).with_suffix(".sql"), now=NOW, batch=BATCH, longest_chat=LONGEST_CHAT, erased=ERASED
)

SENT = ("blank_answers", "delete_unnamed_answers", "blank_sends", "delete_unnamed_sends")
FORGOTTEN = ("forget_session_of_answers", "forget_session_of_sends")
REST = (
    "delete_unsent",
    "delete_dead",
    "delete_aliases",
    "delete_chat_history",
    "delete_resource_states",
    "delete_agent_tasks",
    "delete_web_chat",
    "delete_confirmations",
    "delete_approvals",
    "delete_approval_requests",
    "delete_feedback",
    "delete_report_events",
    "delete_report_people",
    "delete_notification_causes",
    "delete_notifications",
    "delete_senders",
    "delete_logged_events",
    "delete_unanswered",
    "delete_notices",
    "delete_correspondents",
    "delete_queues",
    "delete_notes",
)
"""What is deleted of a conversation beside its texts and files, in this order."""


EXPIRED = (
    "delete_approval_requests",
    "delete_feedback",
    "delete_report_events",
    "delete_notification_causes",
    "delete_notifications",
    "delete_chat_history",
    "delete_resource_states",
    "delete_agent_tasks",
    "delete_web_chat",
    "delete_senders",
    "delete_notes",
    "blank_queue",
    "forget_queues",
)
"""What is deleted of a silent conversation beside its texts and files."""


async def is_erased(connection: Connection, inbox_id: int | None) -> bool:
    """Return True if a message was erased meanwhile; part of the transaction that would store something of it."""
    if inbox_id is None:
        return False
    row = await (await connection.execute(SQL["is_erased"], (inbox_id,))).fetchone()
    return bool(row and row[0])


@retried
async def erase(database: Database, instance_id: int, session_key: str) -> Sequence[str] | None:
    """The keys of the blobs that the conversation had. None where nothing was on record of it."""
    session: dict[str, Any] = {"instance": instance_id, "session": session_key}
    async with database.transaction() as connection:
        own = await column(connection, "senders", session)
        others = await column(connection, "correspondents", session)
        senders = [key_of(orjson.loads(sender)) for sender in (*own, *others) if sender]
        digests = [hashlib.sha256(sender[1:-1].encode()).digest() for sender in own if sender]
        count = await erase_texts(connection, session, "erase_events", "delete_sends", FORGOTTEN)
        keys = await column(connection, "delete_files", session)
        keys += await column(connection, "delete_exports", session)
        await connection.execute(SQL["restart_exports"], session)
        count += len(keys)
        for name in REST:
            cursor = await connection.execute(SQL[name], {**session, "senders": senders, "digests": digests})
            count += cursor.rowcount
    return keys if count else None


async def erase_texts(
    connection: Connection, session: dict[str, Any], events: str, sends: str, more: Sequence[str] = ()
) -> int:
    """Erases what was said by the named statements on events and on sends, and what was sent of it; how many rows.

    Events come first, as in all statements: what is under way cannot answer them afterwards."""
    ids = {
        "events": await column(connection, events, session),
        "sends": await column(connection, sends, session),
    }
    count = sum(map(len, ids.values()))
    for name in (*SENT, *more):
        count += (await connection.execute(SQL[name], ids)).rowcount
    return count


async def column(connection: Connection, name: str, parameters: dict[str, Any]) -> list[Any]:
    cursor = await connection.execute(SQL[name], parameters)
    return [value for (value,) in await cursor.fetchall()]


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
        times = {"kept": self._kept, "now": now}
        while rows := await self._database.fetch(SQL["silent_conversations"], {**after, **times}):
            for at, instance_id, session_key in rows:
                after = {"at": at, "instance": instance_id, "session": session_key}
                count += await self._expire(after, now)
            if len(rows) < BATCH:
                break
        while await self._database.execute(SQL["delete_old_chats"], times, within=BULK_SECONDS) == BATCH:
            pass
        await self._database.execute(SQL["shorten_chats"], {"now": now}, within=BULK_SECONDS)
        return count

    @retried
    async def _expire(self, session: dict[str, Any], now: datetime | None) -> bool:
        """Return True if it was still silent. Dead letters are kept, and with them the files of the conversation."""
        parameters = {**session, "now": now, "kept": self._kept, "memory": max(self._kept, LOOP_MEMORY)}
        async with self._database.transaction() as connection:
            if not await _exists(connection, "lock_silent", parameters):
                return False
            await erase_texts(connection, parameters, "erase_finished_events", "delete_old_sends")
            if not await _exists(connection, "has_dead_letter", parameters):
                await column(connection, "delete_files", parameters)
            for name in EXPIRED:
                await connection.execute(SQL[name], parameters)
        return True


async def _exists(connection: Connection, name: str, parameters: dict[str, Any]) -> bool:
    return await (await connection.execute(SQL[name], parameters)).fetchone() is not None
