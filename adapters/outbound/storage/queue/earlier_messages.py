"""Stored messages, found by the platform's ids of them."""

import orjson

from adapters.outbound.storage.codec import key_of, storable, stored_event
from adapters.outbound.storage.pool import Database
from domain.channels.answers import Author
from domain.channels.messages import Quoted

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
        found = Quoted(str(document.get("text", "")), author or document.get("author") or Author.RESOURCE)
        return found if found.is_given else None

    async def _received(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        if not quoted.key:
            return None
        row = await self._database.fetch_one(RECEIVED, (instance_id, key_of(quoted.key)))
        if row is None:
            return None
        event = stored_event(row[0])
        sender = event.sender
        return Quoted(event.text, sender.display_name or sender.external_id, event.attachments)
