"""Questions about tools in PostgreSQL. A session is found by its `session_key`.

The question of a session is the one row of its key whose `closed_at` is null; a question that is over stays for a
while, to be found by the nonce of its buttons.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Insert, Update, and_, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by

from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.events import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import Timestamp, columns_of
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import tool_approval, tool_confirmation
from domain.confirmations.model import ApprovedTool, FoundQuestion, Pending, SessionState
from domain.conversations.model import MessageId, MessageKind
from domain.events import EventKind
from domain.routing.model import APPROVED_FOR_SESSION
from domain.values import iso_milliseconds

question, approval = tool_confirmation.c, tool_approval.c
_SEPARATOR = "\n"
"""Between the id of a resource and the name of its tool, which are printable both."""
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
        tools = tuple(_approved(orjson.loads(tool)) for tool in row[0] or ())
        return SessionState(_pending(*row[1:]) if row[1] is not None else None, tools)

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        same_key, closed = question.session_key == key_of(session_id), question.closed_at.is_not(None)
        statement = select(question.instance_id == instance_id, same_key, closed, *QUESTION)
        row = await self._database.fetch_one(statement.where(question.nonce == storable(nonce)))
        if row is None:
            return None
        in_instance, has_same_key, is_closed, *columns = row
        return FoundQuestion(_pending(*columns), in_instance, in_instance and has_same_key, is_closed)

    @retried
    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        key = key_of(session_id)
        replaced = update(tool_confirmation).where(_open_in(instance_id, key)).values(closed_at=now)
        detail = {"tool": pending.tool, "parameters": pending.parameters, "original": pending.original}
        if pending.asked_user is not None:
            detail["user"] = pending.asked_user
        if pending.resource:
            detail["resource"] = pending.resource
        if pending.form:
            detail["form"] = pending.form
        stored = {
            "session_key": key,
            "id": pending.id,
            "detail": dump(detail),
            "nonce": pending.nonce,
            "asked_of": dump(pending.asked_of),
            "asked_by": pending.asked_by,
            "expires_at": pending.expires_at,
        }
        added = upsert_of_instance(tool_confirmation, instance_id, stored)
        async with self._database.transaction() as connection:
            if await is_erased(connection, pending.asked_by):
                return None
            rows = await (await connection.run(replaced.returning(*QUESTION))).fetchall()
            await connection.run(added)
            earlier = [question for row in rows if (question := _pending(*row)).decision is None]
            for undecided in earlier:
                await connection.run(_closed(instance_id, key, undecided, Closing.REPLACED))
            data = {"expiresAt": iso_milliseconds(pending.expires_at)}
            await connection.run(_event(EventKind.CONFIRMATION_ASKED, instance_id, key, pending, data))
        return earlier[0] if earlier else None

    @retried
    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        key, tool = key_of(session_id), dump(f"{decided.resource}{_SEPARATOR}{decided.tool}")
        undecided = (question.id == decided.id, question.decision.is_(None), question.expires_at > now)
        deciding = update(tool_confirmation).where(_open_in(instance_id, key), *undecided)
        deciding = deciding.values(
            decision=decided.decision,
            decided_by=decided.decided_by,
            decider=storable(decided.decider),
            decided_at=decided.decided_at,
        )
        by = decided.decided_by and str(MessageId(MessageKind.INBOUND, decided.decided_by))
        data = {"decision": decided.decision, "decidedBy": by, "decider": decided.decider}
        approved = {"session_key": key, "tool_key": key_of(tool), "tool": tool, "heard_at": now}
        async with self._database.transaction() as connection:
            if not (await connection.run(deciding)).rowcount:
                return False
            await connection.run(_event(EventKind.CONFIRMATION_DECIDED, instance_id, key, decided, data))
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


def _approved(stored: str) -> ApprovedTool:
    """Of an approval that an earlier version stored the resource is not known: it fits none."""
    resource, _, tool = stored.rpartition(_SEPARATOR)
    return ApprovedTool(resource, tool)


def _closed(instance_id: int, key: str, pending: Pending, why: Closing) -> Insert:
    return _event(EventKind.CONFIRMATION_DECIDED, instance_id, key, pending, {"decision": why})


def _event(
    kind: EventKind, instance_id: int, key: str, pending: Pending, told: Mapping[str, object]
) -> Insert:
    data = dump({"confirmationId": pending.id, "tool": pending.tool, **told})
    return log_one(kind, instance_id=instance_id, session_key=key, ref=pending.asked_by, data=data)


def _pending(
    id: str, detail: str, nonce: str, asked_of: str, asked_by: int, expires_at: datetime, *decision: Any
) -> Pending:
    read = orjson.loads(detail)
    tool, parameters, original = read["tool"], read["parameters"], read["original"]
    asked = orjson.loads(asked_of)
    pending = Pending(id, tool, parameters, nonce, asked, asked_by, original, expires_at, *decision)
    return replace(
        pending, asked_user=read.get("user"), resource=read.get("resource", ""), form=read.get("form", {})
    )
