"""Connections of channels in PostgreSQL: leases, pairing codes, their state, and where they go on reading."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import case, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import dump, storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.permissions import visible_to
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import InboxRow, add_arrivals
from adapters.outbound.storage.tables import channel_instance, link
from domain.channels.messages import Event
from domain.instances.model import ACTIVE, Activity, LiveSocket
from ports.connections import CodeAnswer, Notifier

LEASE_SECONDS = 15
REQUESTS_PER_HOUR = 20
POLL_SECONDS = 0.5
"""Seconds between two queries for a code request."""

instance, row = channel_instance.c, link.c

FREE: dict[str, Any] = {"owner": None, "lease_until": None, "up_since": None}
"""The columns of a link that no process keeps."""

REMOVED = """
SELECT n FROM unnest(%s::bigint[]) AS t(n)
WHERE n <= (SELECT last_value FROM channel_instance_id_seq)
    AND NOT EXISTS (SELECT FROM channel_instance i WHERE i.id = n) ORDER BY n
"""


class PostgresConnections:
    """`ports.connections.ConnectionStore` of the process `owner`. `arrived` is called after a commit that brought
    events."""

    def __init__(
        self,
        database: Database,
        owner: int,
        instances: PostgresInstances,
        health: PostgresHealth,
        notifier: Notifier,
        arrived: Callable[[], None],
    ) -> None:
        self._database = database
        self._owner = owner
        self._instances = instances
        self._health = health
        self._notifier = notifier
        self._arrived = arrived

    async def acquire(self, channel_ids: Sequence[str]) -> Sequence[int]:
        active = select(instance.id).where(
            instance.channel_id.in_(channel_ids), instance.status == ACTIVE, instance.connects
        )
        missing = active.where(~exists().where(row.instance_id == instance.id))
        added = insert(link).from_select(["instance_id"], missing)
        ours, unowned = row.owner == self._owner, or_(row.owner.is_(None), row.lease_until < func.now())
        free = select(row.instance_id).where(row.instance_id.in_(active), or_(ours, unowned))
        locked = free.with_for_update(of=link, skip_locked=True).subquery()
        leased = update(link).where(row.instance_id == locked.c.instance_id).returning(row.instance_id)
        values = {
            "owner": self._owner,
            "lease_until": func.now() + timedelta(seconds=LEASE_SECONDS),
            "up_since": case((ours, row.up_since)),
        }
        await self._database.execute(added.on_conflict_do_nothing())
        return await self._database.fetch_column(leased.values(values))

    async def held_by_other_process(self, channel_ids: Sequence[str]) -> Sequence[int]:
        links = select(row.instance_id).join(channel_instance)
        active = links.where(instance.channel_id.in_(channel_ids), instance.status == ACTIVE)
        return await self._database.fetch_column(
            active.where(row.owner != self._owner, row.lease_until > func.now())
        )

    async def release(self, instance_id: int) -> None:
        ours = update(link).where(row.instance_id == instance_id, row.owner == self._owner)
        await self._database.execute(ours.values(FREE))

    async def release_all(self) -> None:
        await self.release_of([self._owner])

    async def release_of(self, owners: Sequence[int]) -> None:
        released = update(link).where(row.owner.in_(owners))
        await self._database.execute(released.values(FREE))

    async def removed(self, instance_ids: Sequence[int]) -> Sequence[int]:
        return await self._database.fetch_column(REMOVED, (list(instance_ids),))

    async def prepare(self, instance_id: int, status_field: str, initial_status: str) -> None:
        existing = select(instance.id).filter_by(id=instance_id)
        added = insert(link).from_select(["instance_id"], existing)
        await self._database.execute(added.on_conflict_do_nothing())
        status = await self.recorder(instance_id, status_field).status() or initial_status
        await self._instances.annotate(instance_id, status_field, status)

    async def request(self, instance_id: int) -> int | None:
        is_over = row.asked_since < func.now() - timedelta(hours=1)
        requested = update(link).where(row.instance_id == instance_id)
        requested = requested.where(or_(row.asked < REQUESTS_PER_HOUR, is_over)).values(
            wanted=row.wanted + 1,
            asked=case((is_over, 1), else_=row.asked + 1),
            asked_since=case((is_over, func.now()), else_=row.asked_since),
        )
        number: int | None = await self._database.fetch_value(requested.returning(row.wanted))
        return number

    async def answer(self, instance_id: int, number: int) -> CodeAnswer | None:
        answered = select(row.code, row.error).where(row.instance_id == instance_id, row.answered >= number)
        answer = await self._database.fetch_one(answered)
        return CodeAnswer(answer[0], answer[1] or "") if answer else None

    async def live(self, user_id: str | None) -> Sequence[LiveSocket]:
        status = func.coalesce(row.status, "connected")
        columns = (instance.id, instance.channel_id, instance.channel_name, status, row.up_since)
        connected = select(*columns).select_from(link).join(channel_instance).order_by(instance.id)
        connected = connected.where(row.up_since.is_not(None), row.lease_until > func.now())
        if user_id is not None:
            connected = connected.where(visible_to(user_id))
        return [LiveSocket(*socket) for socket in await self._database.fetch(connected)]

    async def cursor(self, instance_id: int) -> Mapping[str, object] | None:
        stored = await self._database.fetch_value(select(row.cursor).filter_by(instance_id=instance_id))
        cursor: Mapping[str, object] | None = orjson.loads(stored) if stored else None
        return cursor

    @retried
    async def store(
        self, instance_id: int, events: Sequence[Event], cursor: Mapping[str, Any]
    ) -> Sequence[bool | None] | None:
        arrivals = [InboxRow.of(instance_id, event) for event in events]
        ours = update(link).where(row.instance_id == instance_id, row.owner == self._owner)
        async with self._database.transaction() as connection:
            if (await connection.run(ours.values(cursor=dump(cursor)))).rowcount == 0:
                return None
            fresh = await add_arrivals(connection, arrivals)
        if any(fresh):
            self._arrived()
        return fresh

    def recorder(self, instance_id: int, status_field: str) -> PostgresLinkRecorder:
        return PostgresLinkRecorder(
            self._database, instance_id, status_field, self._instances, self._health, self._notifier
        )


@dataclass(frozen=True, slots=True)
class PostgresLinkRecorder:
    """`ports.connections.LinkRecorder` of one instance."""

    database: Database
    instance_id: int
    status_field: str
    instances: PostgresInstances
    health: PostgresHealth
    notifier: Notifier

    async def status(self) -> str | None:
        status: str | None = await self.database.fetch_value(
            select(row.status).filter_by(instance_id=self.instance_id)
        )
        return status

    async def set_status(self, status: str) -> None:
        await self._set(status=status)
        if self.status_field:
            await self.instances.annotate(self.instance_id, self.status_field, status)

    async def record_code(self, code: str | None) -> None:
        await self.health.pairing(self.instance_id, code)
        if code is None:
            await self._set(code=None)
            await self.health.succeeded(self.instance_id, Activity.RECEIVING)
            return
        await self._set(code=code, error=None, answered=row.wanted)
        await self.notifier.pairing_code(self.instance_id, code)

    async def record_pairing_failure(self, reason: str) -> None:
        await self._set(code=None, error=storable(reason), answered=row.wanted)
        await self.health.failed(self.instance_id, Activity.RECEIVING, f"pairing: {reason}")

    async def set_connected_since(self, since: datetime | None) -> None:
        await self._set(up_since=since)
        if since is not None:
            await self.health.succeeded(self.instance_id, Activity.RECEIVING)

    async def record_failure(self, reason: str) -> None:
        await self.health.failed(self.instance_id, Activity.RECEIVING, reason)

    async def wait_for_code_request(self) -> None:
        requested = select(row.wanted > row.answered).filter_by(instance_id=self.instance_id)
        while True:
            if await self.database.fetch_value(requested):
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _set(self, **values: object) -> None:
        await self.database.execute(update(link).filter_by(instance_id=self.instance_id).values(**values))
