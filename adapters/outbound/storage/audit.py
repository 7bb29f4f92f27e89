"""The audit log in PostgreSQL."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, insert, select

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import audit_entry
from domain.access.model import Caller
from domain.audit.model import Action, Actor, AuditEntry, AuditFilter, Result, chained
from ports.audit import Details
from ports.system import Clock

columns = audit_entry.c
ENTRY = columns_of(
    audit_entry,
    "id at user_id key_id session_id address action object result data request_id previous hash",
)
LOCK = 7_209_115_301_842_266_113
"""The advisory lock of whoever adds an entry: each needs the hash of the one before."""
NEWEST = select(columns.hash).order_by(columns.id.desc()).limit(1)
BATCH = 1000


class PostgresAudit:
    """`ports.audit.Audit` and `ports.audit.AuditLog`. Indexes `audit_entry_by_*`, and the primary key."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @asynccontextmanager
    async def change(
        self, caller: Caller, action: Action, subject: str, data: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Details]:
        details: Details = dict(data or {})
        async with self._database.unit():
            yield details
            await self._add(caller, action, details.pop("object", subject), details, Result.DONE)

    async def note(
        self,
        caller: Caller,
        action: Action,
        subject: str,
        data: Mapping[str, Any] | None = None,
        result: Result = Result.DONE,
    ) -> None:
        async with self._database.unit():
            await self._add(caller, action, subject, data or {}, result)

    async def _add(
        self, caller: Caller, action: Action, subject: str, data: Mapping[str, Any], result: Result
    ) -> None:
        """The lock is held until the commit, so that the entries are in the order of the chain."""
        await self._database.fetch("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        previous = await self._database.fetch_value(NEWEST)
        key_id, session_id = (None, caller.key_id) if caller.is_session else (caller.key_id, None)
        actor = Actor(storable(caller.user_id), key_id, session_id, storable(caller.address))
        now = self._clock.now()
        entry = AuditEntry(
            0,
            now.replace(microsecond=now.microsecond // 1000 * 1000),
            actor,
            action,
            storable(subject),
            result,
            json.loads(storable(json.dumps(data, ensure_ascii=True, default=str))),
            storable(caller.request_id),
            bytes(previous or b""),
        )
        await self._database.execute(
            insert(audit_entry).values(
                at=entry.at,
                user_id=actor.user_id,
                key_id=actor.key_id,
                session_id=actor.session_id,
                address=actor.address,
                action=entry.action,
                object=entry.object,
                result=entry.result,
                data=json.dumps(entry.data, ensure_ascii=True),
                request_id=entry.request_id,
                previous=entry.previous,
                hash=chained(entry),
            )
        )

    async def list(self, wanted: AuditFilter, before: int | None, limit: int) -> Sequence[AuditEntry]:
        entries = select(*ENTRY).order_by(columns.id.desc()).limit(limit)
        if wanted.actor:
            entries = entries.where(columns.user_id == storable(wanted.actor))
        if wanted.object:
            entries = entries.where(columns.object == storable(wanted.object))
        if wanted.action:
            entries = entries.where(columns.action.in_(_actions(wanted.action)))
        if wanted.since:
            entries = entries.where(columns.at >= wanted.since)
        if before is not None:
            entries = entries.where(columns.id < before)
        return await self._read(entries)

    async def chain(self) -> AsyncIterator[AuditEntry]:
        last = 0
        while batch := await self._read(_following(last)):
            for entry in batch:
                yield entry
            last = batch[-1].id

    async def prune(self, older_than: datetime) -> int:
        """The entry that names the last one comes first: it carries the hash of what is still there."""
        old = select(func.max(columns.id), func.count()).where(columns.at < older_than)
        [(last, count)] = await self._database.fetch(old)
        if last is None:
            return 0
        [newest] = await self._read(select(*ENTRY).where(columns.id == last))
        data = {"last": last, "at": newest.at.isoformat(), "hash": newest.hash.hex(), "count": count}
        async with self._database.unit():
            await self._add(Caller(""), Action.AUDIT_PRUNED, "audit", data, Result.DONE)
            return await self._database.execute(delete(audit_entry).where(columns.id <= last))

    async def _read(self, entries: Select[Any]) -> Sequence[AuditEntry]:
        return [_entry(*row) for row in await self._database.fetch(entries)]


def _following(last: int) -> Select[Any]:
    return select(*ENTRY).where(columns.id > last).order_by(columns.id).limit(BATCH)


def _actions(name: str) -> Sequence[str]:
    """The action of that name, or all of a kind of object."""
    return [action for action in Action if action == name or action.startswith(f"{name}.")] or [name]


def _entry(
    id: int,
    at: datetime,
    user_id: str,
    key_id: int | None,
    session_id: int | None,
    address: str,
    action: str,
    subject: str,
    result: str,
    data: str,
    request_id: str,
    previous: bytes,
    hash: bytes,
) -> AuditEntry:
    actor = Actor(user_id, key_id, session_id, address)
    return AuditEntry(
        id, at, actor, action, subject, result, json.loads(data), request_id, bytes(previous), bytes(hash)
    )
