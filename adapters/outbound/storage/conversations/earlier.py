"""Stored messages that an event refers to: what it quotes, whose choices it picks, who began its session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import dump, key_of, offer_from_json, storable, stored_event
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.channels.answers import Author
from domain.channels.messages import Event, Quoted
from domain.conversations.choices import Offer
from domain.conversations.model import MessageId, MessageKind

SQL = read_statements(Path(__file__).with_suffix(".sql"))


async def in_own_sessions(
    connection: Connection, instance_id: int, events: Sequence[Event]
) -> Sequence[Event]:
    """The events, each with the session that it belongs to (`Event.separate_session_id`)."""
    shared = {key_of(event.session_id) for event in events if event.separate_session_id}
    if not shared:
        return events
    cursor = await connection.execute(SQL["beginnings"], {"instance": instance_id, "sessions": Texts(shared)})
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


class PostgresEarlierMessages:
    """`ports.conversations.EarlierMessages`. What a message has offered is read from the stored answer or message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_quoted(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        """Of what was sent the whole answer, though the platform may have got it in several messages."""
        if quoted.ref:
            ref, session_key = storable(quoted.ref), key_of(quoted.session) if quoted.session else None
            row = await self._database.fetch_one(
                SQL["sent_by_ref"], (instance_id, ref, ref, session_key, session_key)
            )
            if row is not None:
                answer, content, author = row
                document = orjson.loads(answer or content or "{}")
                author = author or document.get("author") or Author.RESOURCE
                sent = Quoted(str(document.get("text", "")), author)
                if sent.is_given:
                    return sent
        if quoted.key:
            row = await self._database.fetch_one(SQL["received_by_key"], (instance_id, key_of(quoted.key)))
            if row is not None:
                event = stored_event(row[0])
                name = event.sender.display_name or event.sender.external_id
                return Quoted(event.text, name, event.attachments)
        return None

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        session_key = key_of(session_id)
        row = await self._database.fetch_one(
            SQL["is_first"], (instance_id, session_key, inbox_id, instance_id, session_key)
        )
        return bool(row and row[0])

    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        if message.kind is MessageKind.INBOUND:
            return None
        statement = SQL["answer_of_event"] if message.kind is MessageKind.ANSWER else SQL["content_of_send"]
        row = await self._database.fetch_one(statement, _parameters(instance_id, message))
        return offer_from_json(row[0]) if row and row[0] else None

    async def message_with_value(self, instance_id: int, session_id: str, value: str) -> MessageId | None:
        # As `content_of` has it; no text has these quotes.
        needle = f'"value":{dump(value)}'
        parameters = {"instance": instance_id, "session": key_of(session_id), "value": needle}
        row = await self._database.fetch_one(SQL["message_with_value"], parameters)
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
        row = await self._database.fetch_one(SQL["was_picked"], parameters)
        return bool(row and row[0])

    async def latest_offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """Where another followed, the later messages of the conversation are not held against it any more."""
        sent_first = message.kind is MessageKind.SENT_FIRST
        parameters = _parameters(instance_id, message)
        followed = SQL["send_is_followed"] if sent_first else SQL["answer_is_followed"]
        row = await self._database.fetch_one(followed, parameters)
        if row and not row[0]:
            return await self.offer(instance_id, message)
        forget = SQL["forget_offer_of_send"] if sent_first else SQL["forget_offer_of_answer"]
        await self._database.execute(forget, parameters)
        return None


def _parameters(instance_id: int, message: MessageId) -> dict[str, object]:
    return {"id": message.row, "instance": instance_id, "message": str(message)}
