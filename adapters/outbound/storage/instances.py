"""Channel instances in PostgreSQL: configurations sealed, hot reads from memory."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from adapters.outbound.security.encryption import ConfigCipher, SealError
from adapters.outbound.storage.codec import stored_event
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from domain.channels.messages import Event
from domain.instances.health import UNDECRYPTED
from domain.instances.model import ACTIVE, UNREADABLE, Instance, InstanceChange, NewInstance
from domain.refusals import Conflict, Unavailable

log = logging.getLogger(__name__)

COLUMNS = "id, user_id, channel_id, channel_name, config, resource_id, created_at, updated_at, status"
PAGE_ROWS = 500
PAGE = f"""
    SELECT {COLUMNS}, total FROM (
        SELECT *, sum(octet_length(config)) OVER (ORDER BY id) AS size, row_number() OVER (ORDER BY id) AS number,
            count(*) OVER () AS total
        FROM channel_instance WHERE user_id = %s AND status = 'active' AND id > %s
    ) i WHERE size <= %s OR number = 1 ORDER BY id LIMIT %s
"""
REMOVE_MESSAGES = """
    WITH removed AS (DELETE FROM inbox WHERE instance_id = %s RETURNING id, status, event)
    SELECT event FROM removed WHERE status = 0 ORDER BY id DESC LIMIT %s
"""
MOST_UNANSWERED = 50
CACHE_SECONDS = 10.0
CACHE_SIZE = 10_000


class PostgresInstances:
    """`changed` is told the id of each instance that was changed or removed, after the commit."""

    def __init__(self, database: Database, seal: ConfigCipher, changed: Callable[[int], None]) -> None:
        self._database = database
        self._seal = seal
        self._changed = changed
        self._cache: dict[int, tuple[float, Instance | None]] = {}
        self._finding: dict[int, asyncio.Task[Instance | None]] = {}

    async def find(self, instance_id: int) -> Instance | None:
        row = await self._database.fetch_one(
            f"SELECT {COLUMNS} FROM channel_instance WHERE id = %s", (instance_id,)
        )
        return self._instance(row) if row else None

    async def cached(self, instance_id: int) -> Instance | None:
        held = self._cache.get(instance_id)
        if held and time.monotonic() - held[0] < CACHE_SECONDS:
            return held[1]
        finding = self._finding.get(instance_id)
        if finding is None:
            finding = self._finding[instance_id] = asyncio.create_task(self._found(instance_id))
        return await asyncio.shield(finding)

    async def _found(self, instance_id: int) -> Instance | None:
        """Looks once for all that ask at the same time. What was forgotten meanwhile is not remembered."""
        now, this = time.monotonic(), asyncio.current_task()
        try:
            instance = await self.find(instance_id)
            if instance is not None and instance.status == UNREADABLE:
                raise Unavailable(f"the instance {instance_id} waits: {UNDECRYPTED}")
            if self._finding.get(instance_id) is this:
                if len(self._cache) >= CACHE_SIZE:
                    self._cache.clear()
                self._cache[instance_id] = (now, instance)
            return instance
        finally:
            if self._finding.get(instance_id) is this:
                del self._finding[instance_id]

    def forget(self, instance_id: int | None = None) -> None:
        """Drops one instance from memory, or all of them."""
        for memory in (self._cache, self._finding):
            if instance_id is None:
                memory.clear()
            else:
                memory.pop(instance_id, None)

    async def of_user(self, user_id: str) -> Sequence[Instance]:
        rows = await self._database.fetch(
            f"SELECT {COLUMNS} FROM channel_instance WHERE user_id = %s AND status = 'active' ORDER BY id",
            (user_id,),
        )
        return [self._instance(row) for row in rows]

    async def page_of_user(
        self, user_id: str, after: int, most_bytes: int
    ) -> tuple[Sequence[Instance], bool]:
        rows = await self._database.fetch(PAGE, (user_id, after, most_bytes, PAGE_ROWS))
        return [self._instance(row) for row in rows], bool(rows) and rows[-1][-1] > len(rows)

    async def of_channels(self, channel_ids: Sequence[str]) -> Sequence[Instance]:
        rows = await self._database.fetch(
            f"SELECT {COLUMNS} FROM channel_instance WHERE channel_id = ANY(%s) AND status = 'active' ORDER BY id",
            (list(channel_ids),),
        )
        instances = [self._instance(row) for row in rows]
        return [instance for instance in instances if instance.status != UNREADABLE]

    async def add(self, user_id: str, new: NewInstance) -> Instance:
        query = (
            "INSERT INTO channel_instance (user_id, channel_id, channel_name, config, resource_id)"
            f" VALUES (%s, %s, %s, %s, %s) RETURNING {COLUMNS}"
        )
        config = self._seal.seal(json.dumps(new.config))
        row = await self._saving(query, (user_id, new.channel_id, new.channel_name, config, new.resource_id))
        assert row is not None
        instance = self._instance(row)
        self._told(instance.id)
        return instance

    async def change(self, instance_id: int, change: InstanceChange) -> Instance | None:
        query = (
            "UPDATE channel_instance SET config = %s, resource_id = coalesce(%s, resource_id),"
            " channel_name = coalesce(%s, channel_name), updated_at = now()"
            f" WHERE id = %s RETURNING {COLUMNS}"
        )
        config = self._seal.seal(json.dumps(change.config))
        row = await self._saving(query, (config, change.resource_id, change.channel_name, instance_id))
        self._told(instance_id)
        return self._instance(row) if row else None

    @retried
    async def annotate(self, instance_id: int, field: str, value: str) -> None:
        """Writes a field of the configuration that the service itself keeps; nothing else changes."""
        async with self._database.transaction() as connection:
            row = await (
                await connection.execute(
                    "SELECT config FROM channel_instance WHERE id = %s FOR UPDATE", (instance_id,)
                )
            ).fetchone()
            config = json.loads(self._seal.open(row[0])) if row else {}
            if row is None or config.get(field) == value:
                return
            sealed = self._seal.seal(json.dumps({**config, field: value}))
            await connection.execute(
                "UPDATE channel_instance SET config = %s WHERE id = %s", (sealed, instance_id)
            )
        self._told(instance_id)

    async def _saving(self, query: str, parameters: tuple[Any, ...]) -> tuple[Any, ...] | None:
        try:
            return await self._database.fetch_one(query, parameters)
        except psycopg.errors.UniqueViolation as error:
            raise Conflict("an instance of this channel with this channelName exists already") from error

    @retried
    async def remove(self, instance_id: int) -> Sequence[Event]:
        async with self._database.transaction() as connection:
            await connection.execute("DELETE FROM channel_instance WHERE id = %s", (instance_id,))
            cursor = await connection.execute(REMOVE_MESSAGES, (instance_id, MOST_UNANSWERED))
            unanswered = [stored_event(event) for (event,) in await cursor.fetchall()]
            for table in ("outbox", "queue"):
                await connection.execute(f"DELETE FROM {table} WHERE instance_id = %s", (instance_id,))
        self._told(instance_id)
        return unanswered

    async def reseal(self) -> tuple[int, Sequence[int]]:
        """Seals anew what an older key had sealed: how many, and the ids of those that cannot be opened."""
        count, unreadable = 0, []
        for instance_id, sealed in await self._database.fetch(
            "SELECT id, config FROM channel_instance ORDER BY id"
        ):
            try:
                text = self._seal.open(sealed)
            except SealError:
                unreadable.append(instance_id)
                continue
            if not self._seal.is_current(sealed):
                count += await self._database.execute(
                    "UPDATE channel_instance SET config = %s WHERE id = %s AND config = %s",
                    (self._seal.seal(text), instance_id, sealed),
                )
        return count, unreadable

    def _told(self, instance_id: int) -> None:
        self.forget(instance_id)
        self._changed(instance_id)

    def _instance(self, row: tuple[Any, ...]) -> Instance:
        """One row that cannot be decrypted must not stand in the way of the others."""
        try:
            config, status = json.loads(self._seal.open(row[4])), row[8]
        except (SealError, ValueError) as error:
            log.error("a configuration cannot be decrypted: %s", error, extra={"instance": row[0]})
            config, status = {}, UNREADABLE if row[8] == ACTIVE else row[8]
        return Instance(
            id=row[0],
            user_id=row[1],
            channel_id=row[2],
            channel_name=row[3],
            config=config,
            resource_id=row[5],
            created_at=row[6],
            updated_at=row[7],
            status=status,
        )
