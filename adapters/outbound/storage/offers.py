"""What messages have offered, in PostgreSQL: read from the stored answers and messages sent first."""

from adapters.outbound.storage.codec import dump, key_of, offer_from_json
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import EventStatus, QueueKind
from domain.channels.messages import Event
from domain.conversations.choices import Offer
from domain.conversations.model import MessageId, MessageKind

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


class PostgresOffers:
    """`ports.conversations.OfferStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        if message.kind is MessageKind.INBOUND:
            return None
        statement = _ANSWER if message.kind is MessageKind.ANSWER else _SENT_FIRST
        row = await self._database.fetch_one(statement, _parameters(instance_id, message))
        return offer_from_json(row[0]) if row and row[0] else None

    async def with_value(self, instance_id: int, session_id: str, value: str) -> MessageId | None:
        # As `content_to_json` writes it; no text has these quotes.
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

    async def latest(self, instance_id: int, message: MessageId) -> Offer | None:
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
