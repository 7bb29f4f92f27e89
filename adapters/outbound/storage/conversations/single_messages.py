"""Single messages of conversations, with what became of them."""

from collections.abc import Callable, Mapping

from adapters.outbound.storage.codec import stored_event
from adapters.outbound.storage.conversations.rows import MessageRows
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.messages import (
    OF_ANSWER,
    OF_SEND,
    answered,
    delivery_sql,
    received,
    sent_first,
)
from domain.channels.messages import Event
from domain.conversations.model import Message, MessageId, MessageKind

_RECEIVED = (
    "SELECT event, status, error, received_at FROM inbox WHERE id = %s AND instance_id = %s AND event <> '{}'"
)
"""One that was erased is not found. Primary key."""

_ANSWERED = f"""
SELECT i.event, i.answer, i.finished_at, o.dead, o.pending, o.reached, o.error
FROM inbox i CROSS JOIN {delivery_sql(OF_ANSWER)} o
WHERE i.id = %s AND i.instance_id = %s AND i.answer IS NOT NULL
"""
"""Primary key, and index `outbox_by_event`."""

_SENT = f"""
SELECT s.session_id, s.content, s.author, s.created_at, o.dead, o.pending, o.reached, o.error
FROM send s CROSS JOIN {delivery_sql(OF_SEND)} o WHERE s.id = %s AND s.instance_id = %s
"""
"""Primary key, and index `outbox_by_send`."""


class PostgresMessages:
    """`ports.outbox.MessageStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = MessageRows(database)

    async def find(self, instance_id: int, message_id: MessageId) -> Message | None:
        query, read = _KINDS[message_id.kind]
        row = await self._database.fetch_one(query, (message_id.row, instance_id))
        if row is None:
            return None
        message = read(str(message_id), *row)
        return await self._rows.with_files(message_id.row, message) if query is _RECEIVED else message

    async def event(self, instance_id: int, inbox_id: int) -> Event | None:
        row = await self._database.fetch_one(_RECEIVED, (inbox_id, instance_id))
        return stored_event(row[0]) if row else None


_KINDS: Mapping[MessageKind, tuple[str, Callable[..., Message]]] = {
    MessageKind.INBOUND: (_RECEIVED, received),
    MessageKind.ANSWER: (_ANSWERED, answered),
    MessageKind.SENT_FIRST: (_SENT, sent_first),
}
