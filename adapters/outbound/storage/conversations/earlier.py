"""Stored messages, found by the ids of the platform, and who began a session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import key_of, storable, stored_event
from adapters.outbound.storage.pool import Connection, Database
from domain.channels.answers import Author
from domain.channels.messages import Event, Quoted

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


class PostgresEarlierMessages:
    """`ports.queue.EarlierMessages`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        return await self._sent(instance_id, quoted) or await self._received(instance_id, quoted)

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        session_key = key_of(session_id)
        row = await self._database.fetch_one(
            IS_FIRST, (instance_id, session_key, inbox_id, instance_id, session_key)
        )
        return bool(row and row[0])

    async def _sent(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        """What was sent: the whole answer, though the platform may have got it in several messages."""
        if not quoted.ref:
            return None
        ref, session_key = storable(quoted.ref), key_of(quoted.session) if quoted.session else None
        row = await self._database.fetch_one(SENT, (instance_id, ref, ref, session_key, session_key))
        if row is None:
            return None
        answer, content, author = row
        document = orjson.loads(answer or content or "{}")
        sent = Quoted(str(document.get("text", "")), author or document.get("author") or Author.RESOURCE)
        return sent if sent.is_given else None

    async def _received(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        if not quoted.key:
            return None
        row = await self._database.fetch_one(RECEIVED, (instance_id, key_of(quoted.key)))
        if row is None:
            return None
        event = stored_event(row[0])
        sender = event.sender
        return Quoted(event.text, sender.display_name or sender.external_id, event.attachments)
