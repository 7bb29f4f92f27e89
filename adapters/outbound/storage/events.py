"""The log of events in PostgreSQL: recorded with what they are about while somebody listens, numbered, and read."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Insert, Subquery, func, insert, literal, select
from sqlalchemy.sql.selectable import CTE

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.tables import event_listener, event_log
from domain.conversations.model import MessageId, MessageKind
from domain.events import RESET, EventFilter, EventKind, EventPage, LoggedEvent

LISTENED = "EXISTS (SELECT FROM event_listener WHERE until > now())"


def listened() -> ColumnElement[bool]:
    """`LISTENED` for Core statements."""
    return select(event_listener.c.id).where(event_listener.c.until > func.now()).exists()


def log_event(kind: EventKind, rows: CTE | Subquery, **columns: ColumnElement[object] | object) -> Insert:
    """Records an event for each row of a CTE; `columns` are those of `event_log`, as expressions or constants."""
    values = {
        name: value if isinstance(value, ColumnElement) else literal(value, event_log.c[name].type)
        for name, value in columns.items()
    }
    rows_to_log = select(literal(kind.value), *values.values()).select_from(rows).where(listened())
    return insert(event_log).from_select(["kind", *values], rows_to_log)


def log_one(kind: EventKind, **columns: object) -> Insert:
    """Records one event; `columns` are those of `event_log`."""
    return log_event(kind, select(literal(1)).subquery(), **columns)


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
    """A row that it is about may be gone: then the event says no more than which it was. The data that was recorded
    is an object, or the number of the message that this one was merged into."""
    message = _read(row.event)
    session = message.get("session") or row.sent_in or _read(row.latest).get("session") or row.session_key
    compose = _CONTENTS.get(row.kind) or _CONTENTS.get(row.kind.partition(".")[0])
    recorded = orjson.loads(row.data) if row.data else {}
    if isinstance(recorded, int):
        recorded = {"mergedInto": _id(MessageKind.INBOUND, recorded)}
    data = {**(compose(row, message) if compose else {}), **recorded}
    session_id = None if session is None else str(session)
    return LoggedEvent(row.id, row.kind, row.at, row.instance_id, session_id, data, row.owner)


def _read(text: str | None) -> Document:
    """Nothing for a row that cannot be read: its event says which it was."""
    try:
        document = orjson.loads(text) if text else {}
    except ValueError:
        document = {}
    return document if isinstance(document, dict) else {}


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


def _voted(row: EventRow, message: Document) -> Document:
    """The answer that was voted on; vote and sender are recorded."""
    answer = _read(row.answer)
    provenance = answer.get("provenance")
    resource = provenance.get("resource") if isinstance(provenance, dict) else None
    return {**_answered(row, message), "resource": resource}


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
    """The default, if the resource asked for a person: then nothing else is recorded."""
    return {"handler": "person"}


def _changed(row: EventRow, _: Document) -> Document:
    """The message whose answer changed the conversation, where one did."""
    return {"messageId": _id(MessageKind.INBOUND, row.ref)} if row.ref is not None else {}


_CONTENTS = {
    "message.received": _received,
    "message.answered": _answered,
    "message.failed": _failed,
    "message.feedback": _voted,
    "conversation.handler": _handler,
    "conversation.changed": _changed,
    "delivery": _delivery,
    "confirmation": _confirmation,
}


def _id(kind: MessageKind, row: int | None) -> str | None:
    return None if row is None else str(MessageId(kind, row))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


BATCH = 1000
"""Events that get their ids in one transaction."""
WINDOW = 500
"""Rows of the log that one page looks at, whoever they are for."""
PAGE_BYTES = 256 * 1024
"""Bytes of texts after which a page ends."""
LOCK = 1_985_174_039
"""The advisory lock of whoever publishes."""
SQL = read_statements(
    Path(__file__).with_suffix(".sql"),
    lock=LOCK,
    batch=BATCH,
    window=WINDOW,
    page_bytes=PAGE_BYTES,
    listened=LISTENED,
)


class PostgresEventLog:
    """`ports.subscriptions.EventLog`. `days`: how long events are kept, and recorded after the last listener."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._days = days

    async def after(self, wanted: EventFilter, cursor: int, limit: int) -> EventPage:
        parameters = {
            "cursor": cursor,
            "owner": wanted.owner,
            "shared": sorted(wanted.shared),
            "kinds": sorted(wanted.kinds),
            "instances": sorted(wanted.instance_ids),
            "limit": limit,
        }
        rows = await self._database.fetch(SQL["events_after"], parameters)
        oldest, newest, seen, reached = rows[0][:4]
        floor = newest if oldest is None else oldest - 1
        if cursor > newest:
            return EventPage([_reset(newest)], newest)
        events = [_reset(floor)] if cursor < floor else []
        events += [event_of(EventRow(*row[4:-2])) for row in rows if row[4] is not None]
        if len(events) >= limit or len(rows) < (rows[0][-2] or 0):
            return EventPage(events, events[-1].id, more=True)
        return EventPage(events, max(cursor, floor) if reached is None else reached, more=seen == WINDOW)

    async def position(self) -> int:
        return await self._fetch_int(SQL["position"])

    async def publish(self) -> int:
        count = 0
        while published := await self._database.execute(SQL["publish"]):
            count += published
            if published < BATCH:
                break
        return count

    async def listen(self, listener: str) -> None:
        if await self._fetch_int(SQL["listen"], (listener, self._days)):
            await self.publish()

    async def _fetch_int(self, query: str, parameters: Any = ()) -> int:
        return int(await self._database.fetch_value(query, parameters))


def _reset(id: int) -> LoggedEvent:
    """In the place of events that were deleted. A cursor beyond all ids is of another database."""
    return LoggedEvent(id, RESET, datetime.now(UTC))
