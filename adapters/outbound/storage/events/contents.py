"""What an event says, from its row and the rows that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import orjson

from domain.conversations.model import MessageId, MessageKind
from domain.events import LoggedEvent

Document = Mapping[str, object]


class EventRow(NamedTuple):
    """A row of the log; the ids of the message and of the message sent first that a delivery belongs to; and the
    texts of those. `latest`: the latest event of a session whose key is a hash."""

    id: int
    kind: str
    at: datetime
    instance_id: int | None
    session_key: str | None
    owner: str | None
    ref: int | None
    data: str | None
    inbox_id: int | None
    send_id: int | None
    event: str | None
    answer: str | None
    error: str | None
    sent_in: str | None
    latest: str | None


def event_of(row: EventRow) -> LoggedEvent:
    """A row that it is about may be gone: then the event says no more than which it was."""
    message = _read(row.event)
    session = message.get("session") or row.sent_in or _read(row.latest).get("session") or row.session_key
    compose = _CONTENTS.get(row.kind) or _CONTENTS.get(row.kind.partition(".")[0])
    data = {**(compose(row, message) if compose else {}), **_told(row.data)}
    session_id = None if session is None else str(session)
    return LoggedEvent(row.id, row.kind, row.at, row.instance_id, session_id, data, row.owner)


def _read(text: str | None) -> Document:
    """Nothing for a row that cannot be read: its event says which it was."""
    try:
        document = orjson.loads(text) if text else {}
    except ValueError:
        document = {}
    return document if isinstance(document, dict) else {}


def _told(data: str | None) -> Document:
    """The data that was recorded: an object, or the number of the message that this one was merged into."""
    recorded = orjson.loads(data) if data else {}
    return {"mergedInto": _id(MessageKind.INBOUND, recorded)} if isinstance(recorded, int) else recorded


def _received(row: EventRow, message: Document) -> Document:
    return {
        "messageId": _id(MessageKind.INBOUND, row.ref),
        "requestId": message.get("request"),
        "text": message.get("text"),
        "sender": {"externalId": message.get("sender"), "displayName": message.get("name", "")},
        "files": [_file(file) for file in _list(message.get("files"))],
    }


def _file(file: object) -> Document:
    """Without where it is fetched from: that may hold a token."""
    kept = dict(zip(("name", "mimeType", "source", "size"), _list(file), strict=False))
    return {name: kept.get(name) for name in ("name", "mimeType", "size")}


def _answered(row: EventRow, message: Document) -> Document:
    answer = _read(row.answer)
    return {
        "messageId": _id(MessageKind.ANSWER, row.ref),
        "inReplyTo": _id(MessageKind.INBOUND, row.ref),
        "requestId": message.get("request"),
        "text": answer.get("text"),
        "author": answer.get("author"),
    }


def _failed(row: EventRow, message: Document) -> Document:
    return {
        "messageId": _id(MessageKind.INBOUND, row.ref),
        "requestId": message.get("request"),
        "error": row.error,
    }


def _delivery(row: EventRow, _: Document) -> Document:
    answer = _id(MessageKind.ANSWER, row.inbox_id)
    return {"messageId": answer or _id(MessageKind.SENT_FIRST, row.send_id), "deliveryId": row.ref}


def _confirmation(row: EventRow, _: Document) -> Document:
    return {"messageId": _id(MessageKind.INBOUND, row.ref)}


def _handler(_: EventRow, __: Document) -> Document:
    """What is recorded counts; nothing is where the resource asked for a person."""
    return {"handler": "person"}


_CONTENTS = {
    "message.received": _received,
    "message.answered": _answered,
    "message.failed": _failed,
    "conversation.handler": _handler,
    "delivery": _delivery,
    "confirmation": _confirmation,
}


def _id(kind: MessageKind, row: int | None) -> str | None:
    return None if row is None else str(MessageId(kind, row))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
