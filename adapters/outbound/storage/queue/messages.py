"""Messages of conversations as they are read from their rows, with what became of them."""

from typing import Any

import orjson

from adapters.outbound.storage.codec import files_of, stored_event
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus
from domain.channels.answers import Artifact, Author
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
        event.sender.display_name,
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
