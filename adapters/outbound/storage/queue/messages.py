"""Single messages of conversations, with what became of them."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from adapters.outbound.storage.codec import files_of, stored_event
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus
from domain.channels.messages import Artifact, Author
from domain.conversations.message_ids import MessageId, MessageKind
from domain.conversations.model import Direction, Message, MessageState

INBOUND_STATES = {
    EventStatus.QUEUED: MessageState.WAITING,
    EventStatus.DONE: MessageState.DONE,
    EventStatus.FAILED: MessageState.FAILED,
}
DELIVERY_STATES = (MessageState.SENT, MessageState.DELIVERED, MessageState.READ)
"""By the column `delivery_state` of `outbox`, of which none is 0."""


OF_ANSWER = f"inbox_id = i.id AND NOT (apology AND i.status = {EventStatus.DONE})"
"""The apology for a message `i` that was run again is no part of its answer."""
OF_SEND = "send_id = s.id"


def delivery_sql(condition: str) -> str:
    """A LATERAL query of what became of the outbound messages of one message: whether any is dead (`dead`) or on its
    way (`pending`), how far all of them came (`reached`), and why the first dead one was given up (`error`)."""
    return f"""LATERAL (
        SELECT coalesce(bool_or(status = {MessageStatus.DEAD}), false) AS dead,
            coalesce(bool_or(status = {MessageStatus.PENDING}), false) AS pending,
            greatest(min(coalesce(delivery_state, 0)), 0) AS reached,
            (array_agg(last_error ORDER BY id) FILTER (WHERE status = {MessageStatus.DEAD}))[1] AS error
        FROM outbox WHERE {condition}
    )"""


def delivery_state(dead: bool, pending: bool, reached: int) -> MessageState:
    if dead:
        return MessageState.DEAD
    return MessageState.QUEUED if pending else DELIVERY_STATES[reached]


_RECEIVED = "SELECT event, status, error, received_at FROM inbox WHERE id = %s AND instance_id = %s"
"""Primary key."""

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
    """`ports.sends.MessageStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, instance_id: int, message_id: MessageId) -> Message | None:
        query, read = _KINDS[message_id.kind]
        row = await self._database.fetch_one(query, (message_id.row, instance_id))
        return read(str(message_id), *row) if row else None


def received(id: str, stored: str, status: int, error: str | None, at: Any) -> Message:
    event = stored_event(stored)
    files = [Artifact(file.name, file.mime_type, "", size=file.size) for file in event.attachments]
    state = INBOUND_STATES[EventStatus(status)]
    return Message(
        id,
        event.session_id,
        Direction.INBOUND,
        event.text,
        files,
        Author.SENDER,
        state,
        error,
        event.request_id,
        at,
    )


def answered(id: str, stored: str, answer: str, at: Any, dead: bool, *delivery: Any) -> Message:
    event, content = stored_event(stored), orjson.loads(answer)
    return _outbound(id, event.session_id, content, content["author"], event.request_id, at, dead, *delivery)


def sent_first(
    id: str, session_id: str, stored: str, author: str, at: Any, dead: bool, *delivery: Any
) -> Message:
    content = orjson.loads(stored)
    return _outbound(id, session_id, content, author, content.get("request", ""), at, dead, *delivery)


def _outbound(
    id: str,
    session_id: str,
    content: dict[str, Any],
    author: str,
    request_id: str,
    at: Any,
    dead: bool,
    pending: bool,
    reached: int,
    error: str | None,
) -> Message:
    return Message(
        id,
        session_id,
        Direction.OUTBOUND,
        content.get("text", ""),
        files_of(content),
        Author(author),
        delivery_state(dead, pending, reached),
        error if dead else None,
        request_id,
        at,
    )


_KINDS: Mapping[MessageKind, tuple[str, Callable[..., Message]]] = {
    MessageKind.INBOUND: (_RECEIVED, received),
    MessageKind.ANSWER: (_ANSWERED, answered),
    MessageKind.SENT_FIRST: (_SENT, sent_first),
}
