"""Stored messages that an event refers to: what it quotes, whose choices it picks, who began its session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import dump, key_of, offer_from_json, storable, stored_event
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import EventStatus, QueueKind
from domain.channels.answers import Author
from domain.channels.messages import Event, Quoted
from domain.conversations.choices import Offer
from domain.conversations.model import MessageId, MessageKind

BEGINNINGS = """
SELECT t.session_key, i.event, s.content, s.created_at < i.received_at
FROM unnest(%(sessions)s) AS t(session_key)
LEFT JOIN LATERAL (
    SELECT event, received_at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) i ON true
LEFT JOIN LATERAL (
    SELECT content, created_at FROM send
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) s ON true
"""
"""The first message that came in each session, and the first that was sent in it. Indexes `inbox_by_session` and
`send_by_session`."""


async def in_own_sessions(
    connection: Connection, instance_id: int, events: Sequence[Event]
) -> Sequence[Event]:
    """The events, each with the session that it belongs to (`Event.separate_session_id`)."""
    shared = {key_of(event.session_id) for event in events if event.separate_session_id}
    if not shared:
        return events
    cursor = await connection.execute(BEGINNINGS, {"instance": instance_id, "sessions": Texts(shared)})
    beginners = {
        key: _beginner(event, content, is_first) for key, event, content, is_first in await cursor.fetchall()
    }
    placed: list[Event] = []
    for event in events:
        if not event.separate_session_id:
            placed.append(event)
            continue
        key = key_of(event.session_id)
        beginners[key] = beginners.get(key) or event.correspondent
        session = event.session_id if beginners[key] == event.correspondent else event.separate_session_id
        placed.append(replace(event, session_id=session, separate_session_id=""))
    return placed


def _beginner(event: str | None, content: str | None, is_sent_first: bool | None) -> str:
    """Whom the session belongs to, '' where nothing tells it any more."""
    if content is not None and (event is None or is_sent_first):
        return str(_document(_document(content).get("target")).get("to", "")).lower()
    document = _document(event)
    return str(document.get("correspondent") or document.get("sender") or "").lower()


def _document(stored: object) -> Mapping[str, Any]:
    document = orjson.loads(stored) if isinstance(stored, str) else stored
    return document if isinstance(document, Mapping) else {}


SENT = """
SELECT i.answer, s.content, s.author FROM outbox o LEFT JOIN inbox i ON i.id = o.inbox_id
LEFT JOIN send s ON s.id = o.send_id
WHERE o.instance_id = %s AND hashtextextended(o.ref, 0) = hashtextextended(%s, 0) AND o.ref IS NOT NULL
    AND o.ref = %s AND (%s::text IS NULL OR o.session_key = %s) LIMIT 1
"""
"""Index `outbox_by_ref`, and the primary keys of `inbox` and `send`."""

RECEIVED = "SELECT event FROM inbox WHERE instance_id = %s AND event_key = %s"
"""Index `inbox_event`."""

IS_FIRST = """
SELECT NOT EXISTS (SELECT FROM inbox WHERE instance_id = %s AND session_key = %s AND id < %s)
    AND NOT EXISTS (SELECT FROM send WHERE instance_id = %s AND session_key = %s)
"""
"""Indexes `inbox_by_session` and `send_by_session`."""

_ANSWER = "SELECT answer FROM inbox WHERE id = %(id)s AND instance_id = %(instance)s"
_SENT_FIRST = "SELECT content FROM send WHERE id = %(id)s AND instance_id = %(instance)s"
"""Primary keys."""

_WITH_VALUE = """
SELECT kind, id FROM (
    (SELECT 'out' AS kind, id, answer AS content, finished_at AS at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = %(session)s ORDER BY id DESC LIMIT 100)
    UNION ALL
    (SELECT 'send', id, content, created_at FROM send
    WHERE instance_id = %(instance)s AND session_key = %(session)s ORDER BY id DESC LIMIT 100)
) message WHERE position(%(value)s IN content) > 0 ORDER BY at DESC LIMIT 1
"""
"""Indexes `inbox_by_session` and `send_by_session`."""

_PICKED = f"""
SELECT EXISTS (SELECT FROM (
    SELECT event, status, received_at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = %(session)s AND id > %(answer)s AND id < %(before)s
    ORDER BY id DESC LIMIT 1000
) earlier WHERE status = {EventStatus.DONE}
    AND position(%(choice)s IN event) > 0 AND position(%(sender)s IN event) > 0
    AND received_at >= coalesce(
        (SELECT created_at FROM send WHERE id = %(send)s AND instance_id = %(instance)s), '-infinity'))
"""
"""Index `inbox_by_session`, primary key of `send`."""

_FOLLOWED_ANSWER = f"""
SELECT EXISTS (
    SELECT FROM inbox l WHERE l.instance_id = i.instance_id AND l.session_key = i.session_key AND l.id > i.id
    AND l.answer IS NOT NULL AND l.status = {EventStatus.DONE}
) OR EXISTS (
    SELECT FROM send s WHERE s.instance_id = i.instance_id AND s.session_key = i.session_key
    AND s.created_at >= i.finished_at
) FROM inbox i WHERE i.id = %(id)s AND i.instance_id = %(instance)s
"""
_FOLLOWED_SENT = f"""
SELECT EXISTS (
    SELECT FROM send l WHERE l.instance_id = s.instance_id AND l.session_key = s.session_key AND l.id > s.id
) OR EXISTS (
    SELECT FROM inbox i WHERE i.instance_id = s.instance_id AND i.session_key = s.session_key
    AND i.answer IS NOT NULL AND i.status = {EventStatus.DONE} AND i.finished_at >= s.created_at
) FROM send s WHERE s.id = %(id)s AND s.instance_id = %(instance)s
"""
"""Indexes `inbox_by_session` and `send_by_session`."""

_FORGET = f"""
UPDATE queue SET offered = NULL WHERE kind = {QueueKind.INBOUND} AND offered = %(message)s
    AND instance_id = %(instance)s
    AND session_key = (SELECT session_key FROM {{table}} WHERE id = %(id)s AND instance_id = %(instance)s)
"""
"""Primary keys."""


class PostgresEarlierMessages:
    """`ports.conversations.EarlierMessages`. What a message has offered is read from the stored answer or message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_quoted(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        """Of what was sent the whole answer, though the platform may have got it in several messages."""
        if quoted.ref:
            ref, session_key = storable(quoted.ref), key_of(quoted.session) if quoted.session else None
            row = await self._database.fetch_one(SENT, (instance_id, ref, ref, session_key, session_key))
            if row is not None:
                answer, content, author = row
                document = orjson.loads(answer or content or "{}")
                author = author or document.get("author") or Author.RESOURCE
                sent = Quoted(str(document.get("text", "")), author)
                if sent.is_given:
                    return sent
        if quoted.key:
            row = await self._database.fetch_one(RECEIVED, (instance_id, key_of(quoted.key)))
            if row is not None:
                event = stored_event(row[0])
                name = event.sender.display_name or event.sender.external_id
                return Quoted(event.text, name, event.attachments)
        return None

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        session_key = key_of(session_id)
        row = await self._database.fetch_one(
            IS_FIRST, (instance_id, session_key, inbox_id, instance_id, session_key)
        )
        return bool(row and row[0])

    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        if message.kind is MessageKind.INBOUND:
            return None
        statement = _ANSWER if message.kind is MessageKind.ANSWER else _SENT_FIRST
        row = await self._database.fetch_one(statement, _parameters(instance_id, message))
        return offer_from_json(row[0]) if row and row[0] else None

    async def message_with_value(self, instance_id: int, session_id: str, value: str) -> MessageId | None:
        # As `content_of` has it; no text has these quotes.
        needle = f'"value":{dump(value)}'
        parameters = {"instance": instance_id, "session": key_of(session_id), "value": needle}
        row = await self._database.fetch_one(_WITH_VALUE, parameters)
        return MessageId(MessageKind(row[0]), row[1]) if row else None

    async def was_picked(self, instance_id: int, event: Event, message: MessageId, before: int) -> bool:
        parameters = {
            "instance": instance_id,
            "session": key_of(event.session_id),
            "before": before,
            "answer": message.row if message.kind is MessageKind.ANSWER else 0,
            "send": message.row if message.kind is MessageKind.SENT_FIRST else None,
            # As `event_to_json` writes them; no text has these quotes.
            "choice": f'"choice":{dump(event.choice)}',
            "sender": f'"sender":{dump(event.sender.external_id)}',
        }
        row = await self._database.fetch_one(_PICKED, parameters)
        return bool(row and row[0])

    async def latest_offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """Where another followed, the later messages of the conversation are not held against it any more."""
        sent_first = message.kind is MessageKind.SENT_FIRST
        parameters = _parameters(instance_id, message)
        followed = _FOLLOWED_SENT if sent_first else _FOLLOWED_ANSWER
        row = await self._database.fetch_one(followed, parameters)
        if row and not row[0]:
            return await self.offer(instance_id, message)
        await self._database.execute(_FORGET.format(table="send" if sent_first else "inbox"), parameters)
        return None


def _parameters(instance_id: int, message: MessageId) -> dict[str, object]:
    return {"id": message.row, "instance": instance_id, "message": str(message)}
