"""Which instances are connected, and where their connections go on reading, in PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import select, update

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.arrivals import add_arrivals
from adapters.outbound.storage.queue.inbox import InboxRow
from adapters.outbound.storage.tables import channel_instance, link
from domain.channels.messages import Event

link_row = link.c


class PostgresConnectionSwitch:
    """`ports.connections.ConnectionSwitch`. `changed` is called with the id of an instance for which that changed."""

    def __init__(self, database: Database, changed: Callable[[int], None]) -> None:
        self._database = database
        self._changed = changed

    async def set_connects(self, instance_id: int, connects: bool) -> None:
        instance = channel_instance.c
        switched = update(channel_instance).where(instance.id == instance_id, instance.connects != connects)
        statement = switched.values(connects=connects).returning(instance.id)
        if await self._database.fetch_value(statement) is not None:
            self._changed(instance_id)


class PostgresCursors:
    """`ports.connections.ConnectionCursors` of the connections that `owner` keeps. `arrived` is called after a commit
    that brought events."""

    def __init__(self, database: Database, owner: int, arrived: Callable[[], None]) -> None:
        self._database = database
        self._owner = owner
        self._arrived = arrived

    async def cursor(self, instance_id: int) -> Mapping[str, object] | None:
        stored = await self._database.fetch_value(select(link_row.cursor).filter_by(instance_id=instance_id))
        cursor: Mapping[str, object] | None = orjson.loads(stored) if stored else None
        return cursor

    @retried
    async def store(
        self, instance_id: int, events: Sequence[Event], cursor: Mapping[str, Any]
    ) -> Sequence[bool | None] | None:
        arrivals = [InboxRow.of(instance_id, event) for event in events]
        ours = update(link).where(link_row.instance_id == instance_id, link_row.owner == self._owner)
        async with self._database.transaction() as connection:
            if (await connection.run(ours.values(cursor=dump(cursor)))).rowcount == 0:
                return None
            fresh = await add_arrivals(connection, arrivals)
        if any(fresh):
            self._arrived()
        return fresh
