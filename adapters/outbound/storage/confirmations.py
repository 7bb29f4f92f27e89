"""Questions about tools in PostgreSQL. A session is found by its `session_key`.

The question of a session is the one row of its key whose `closed_at` is null; a question that is over stays for a
while, to be found by the nonce of its buttons.

What messages have offered, in PostgreSQL: read from the stored answers and messages sent first.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Insert, Update, and_, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by

from adapters.outbound.storage.codec import dump, key_of, offer_from_json, storable
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.events import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import EventStatus, QueueKind
from adapters.outbound.storage.schema import Timestamp, columns_of
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import tool_approval, tool_confirmation
from domain.channels.messages import Event
from domain.confirmations.model import FoundQuestion, Pending, SessionState
from domain.conversations.choices import Offer
from domain.conversations.model import MessageId, MessageKind
from domain.events import EventKind
from domain.routing.model import APPROVED_FOR_SESSION
from domain.values import iso_milliseconds

question, approval = tool_confirmation.c, tool_approval.c
QUESTION = columns_of(
    tool_confirmation, "id detail nonce asked_of asked_by expires_at decision decided_by decider decided_at"
)


def _open_in(instance_id: Any, key: Any) -> ColumnElement[bool]:
    return and_(
        question.instance_id == instance_id, question.session_key == key, question.closed_at.is_(None)
    )


_NOW = bindparam("now", type_=Timestamp)
_HEARD = (
    update(tool_approval)
    .values(heard_at=_NOW)
    .where(
        approval.instance_id == bindparam("instance"),
        approval.session_key == bindparam("key"),
        approval.heard_at > bindparam("silent_since"),
    )
    .returning(approval.tool)
    .cte("heard")
)
_TOOLS = select(func.array_agg(aggregate_order_by(_HEARD.c.tool, _HEARD.c.tool))).subquery("tools")
_LOAD = select(_TOOLS, *QUESTION).select_from(
    _TOOLS.outerjoin(tool_confirmation, _open_in(bindparam("instance"), bindparam("key")))
)
"""Runs for each message of a session that has anything on record here."""


class Closing(StrEnum):
    """What an event says of a question that was closed undecided, in place of its decision."""

    CLEARED = "cleared"
    REPLACED = "replaced"
    EXPIRED = "expired"


class PostgresConfirmations:
    """`ports.conversations.ConfirmationStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        parameters = {"instance": instance_id, "key": key_of(session_id), "now": now}
        [row] = await self._database.fetch(_LOAD, {**parameters, "silent_since": silent_since})
        tools = tuple(orjson.loads(tool) for tool in row[0] or ())
        return SessionState(_pending(*row[1:]) if row[1] is not None else None, tools)

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        same_key, closed = question.session_key == key_of(session_id), question.closed_at.is_not(None)
        statement = select(question.instance_id == instance_id, same_key, closed, *QUESTION)
        row = await self._database.fetch_one(statement.where(question.nonce == storable(nonce)))
        if row is None:
            return None
        in_instance, has_same_key, is_closed, *columns = row
        return FoundQuestion(_pending(*columns), in_instance, in_instance and has_same_key, is_closed)

    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        key = key_of(session_id)
        replaced = update(tool_confirmation).where(_open_in(instance_id, key)).values(closed_at=now)
        added = upsert_of_instance(tool_confirmation, instance_id, {"session_key": key, **_columns(pending)})
        async with self._database.transaction() as connection:
            if await is_erased(connection, pending.asked_by):
                return None
            rows = await (await connection.run(replaced.returning(*QUESTION))).fetchall()
            await connection.run(added)
            earlier = [question for row in rows if (question := _pending(*row)).decision is None]
            for undecided in earlier:
                await connection.run(_closed(instance_id, key, undecided, Closing.REPLACED))
            await connection.run(_asked(instance_id, key, pending))
        return earlier[0] if earlier else None

    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        key, tool = key_of(session_id), dump(decided.tool)
        undecided = (question.id == decided.id, question.decision.is_(None), question.expires_at > now)
        deciding = update(tool_confirmation).where(_open_in(instance_id, key), *undecided)
        deciding = deciding.values(
            decision=decided.decision,
            decided_by=decided.decided_by,
            decider=storable(decided.decider),
            decided_at=decided.decided_at,
        )
        approved = {"session_key": key, "tool_key": key_of(tool), "tool": tool, "heard_at": now}
        async with self._database.transaction() as connection:
            if not (await connection.run(deciding)).rowcount:
                return False
            await connection.run(_decided(instance_id, key, decided))
            if decided.decision == APPROVED_FOR_SESSION:
                await connection.run(upsert_of_instance(tool_approval, instance_id, approved))
        return True

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        beginning = update(tool_confirmation).filter_by(
            instance_id=instance_id, session_key=key_of(session_id), id=confirmation_id, begun=False
        )
        return await self._database.execute(beginning.values(begun=True)) == 1

    async def close(self, instance_id: int, confirmation_id: str, now: datetime) -> None:
        closing = update(tool_confirmation).filter_by(
            instance_id=instance_id, id=confirmation_id, closed_at=None
        )
        await self._close(closing, now)

    @retried
    async def _close(self, closing: Update, now: datetime) -> int:
        columns = (question.instance_id, question.session_key, *QUESTION)
        async with self._database.transaction() as connection:
            cursor = await connection.run(closing.values(closed_at=now).returning(*columns))
            rows = await cursor.fetchall()
            for instance_id, key, *row in rows:
                pending = _pending(*row)
                if pending.decision is None:
                    why = Closing.EXPIRED if pending.expires_at <= now else Closing.CLEARED
                    await connection.run(_closed(instance_id, key, pending, why))
        return len(rows)

    async def expire(self, now: datetime, silent_since: datetime, kept_since: datetime) -> int:
        over = or_(
            question.expires_at <= silent_since, and_(question.expires_at <= now, question.decision.is_(None))
        )
        removals = (
            delete(tool_confirmation).where(question.closed_at <= kept_since),
            delete(tool_approval).where(approval.heard_at <= silent_since),
        )
        removed = sum([await self._database.execute(removal) for removal in removals])
        return removed + await self._close(
            update(tool_confirmation).where(question.closed_at.is_(None), over), now
        )


def _asked(instance_id: int, key: str, pending: Pending) -> Insert:
    data = {"expiresAt": iso_milliseconds(pending.expires_at)}
    return _event(EventKind.CONFIRMATION_ASKED, instance_id, key, pending, data)


def _decided(instance_id: int, key: str, pending: Pending) -> Insert:
    by = pending.decided_by and str(MessageId(MessageKind.INBOUND, pending.decided_by))
    data = {"decision": pending.decision, "decidedBy": by, "decider": pending.decider}
    return _event(EventKind.CONFIRMATION_DECIDED, instance_id, key, pending, data)


def _closed(instance_id: int, key: str, pending: Pending, why: Closing) -> Insert:
    return _event(EventKind.CONFIRMATION_DECIDED, instance_id, key, pending, {"decision": why})


def _event(
    kind: EventKind, instance_id: int, key: str, pending: Pending, told: Mapping[str, object]
) -> Insert:
    data = dump({"confirmationId": pending.id, "tool": pending.tool, **told})
    return log_one(kind, instance_id=instance_id, session_key=key, ref=pending.asked_by, data=data)


def _columns(pending: Pending) -> dict[str, Any]:
    detail = {"tool": pending.tool, "parameters": pending.parameters, "original": pending.original}
    if pending.asked_user is not None:
        detail["user"] = pending.asked_user
    return {
        "id": pending.id,
        "detail": dump(detail),
        "nonce": pending.nonce,
        "asked_of": dump(pending.asked_of),
        "asked_by": pending.asked_by,
        "expires_at": pending.expires_at,
    }


def _pending(
    id: str, detail: str, nonce: str, asked_of: str, asked_by: int, expires_at: datetime, *decision: Any
) -> Pending:
    read = orjson.loads(detail)
    tool, parameters, original = read["tool"], read["parameters"], read["original"]
    asked = orjson.loads(asked_of)
    pending = Pending(id, tool, parameters, nonce, asked, asked_by, original, expires_at, *decision)
    return replace(pending, asked_user=read.get("user"))


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
