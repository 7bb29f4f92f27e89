"""Bases and permissions in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence

import psycopg
from psycopg import sql

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.forms import BASE_COLUMNS, base_of, clean
from adapters.outbound.storage.knowledge.vector_indexes import drop_indexes
from adapters.outbound.storage.pool import Connection, Database
from domain.knowledge.model import Base, BaseChange, Level, NewBase, Permission

GRANTED = "LEFT JOIN kb_permission p ON p.kb_id = b.id AND p.user_id = %(user)s"
TABLES = ("chunk_index", "chunk", "kb_term")


class PostgresBases:
    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, owner: str, new: NewBase) -> Base:
        manifest = json.dumps(new.manifest, ensure_ascii=True)
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "INSERT INTO knowledge_base AS b (name, description, manifest, created_by)"
                f" VALUES (%s, %s, %s, %s) RETURNING {BASE_COLUMNS}, 3",
                (clean(new.name), clean(new.description), manifest, owner),
            )
            row = await cursor.fetchone()
            assert row is not None
            await self._grant(connection, row[0], owner, Level.DELETE)
        return base_of(row)

    async def find(self, base_id: int, user_id: str) -> Base | None:
        row = await self._database.fetch_one(
            f"SELECT {BASE_COLUMNS}, p.level FROM knowledge_base b {GRANTED} WHERE b.id = %(id)s",
            {"user": user_id, "id": base_id},
        )
        return base_of(row) if row else None

    async def of_user(self, user_id: str) -> Sequence[Base]:
        rows = await self._database.fetch(
            f"SELECT {BASE_COLUMNS}, p.level FROM kb_permission p JOIN knowledge_base b ON b.id = p.kb_id"
            " WHERE p.user_id = %s ORDER BY b.id",
            (user_id,),
        )
        return [base_of(row) for row in rows]

    async def all(self) -> Sequence[Base]:
        rows = await self._database.fetch(f"SELECT {BASE_COLUMNS}, 3 FROM knowledge_base b ORDER BY b.id")
        return [base_of(row) for row in rows]

    async def change(self, base_id: int, change: BaseChange) -> bool:
        name = None if change.name is None else clean(change.name)
        description = None if change.description is None else clean(change.description)
        touched = await self._database.execute(
            "UPDATE knowledge_base SET name = coalesce(%s, name), description = coalesce(%s, description),"
            " updated_at = clock_timestamp() WHERE id = %s",
            (name, description, base_id),
        )
        return touched > 0

    @retried
    async def remove(self, base_id: int, *, sync_memory: bool) -> Sequence[str] | None:
        await drop_indexes(self._database, base_id)
        async with self._database.transaction() as connection:
            found = await connection.execute(
                "SELECT FROM knowledge_base WHERE id = %s FOR UPDATE", (base_id,)
            )
            if await found.fetchone() is None:
                return None
            keys = await connection.execute(
                "SELECT DISTINCT blob_key FROM kb_file WHERE kb_id = %s", (base_id,)
            )
            blobs = [key for (key,) in await keys.fetchall()]
            for table in TABLES:
                await connection.execute(
                    sql.SQL("DELETE FROM {} WHERE kb_id = {}").format(sql.Identifier(table), base_id)
                )
            await connection.execute("DELETE FROM knowledge_base WHERE id = %s", (base_id,))
            if sync_memory:
                await connection.execute("INSERT INTO memory_task (kb_id) VALUES (%s)", (base_id,))
        return blobs

    async def permissions(self, base_id: int) -> Sequence[Permission]:
        rows = await self._database.fetch(
            "SELECT user_id, level FROM kb_permission WHERE kb_id = %s ORDER BY user_id", (base_id,)
        )
        return [Permission(user_id, Level(level)) for user_id, level in rows]

    async def grant(self, base_id: int, user_id: str, level: Level) -> None:
        async with self._database.connection() as connection:
            await self._grant(connection, base_id, clean(user_id), level)

    async def _grant(self, connection: Connection, base_id: int, user_id: str, level: Level) -> None:
        if level is Level.NONE:
            await connection.execute(
                "DELETE FROM kb_permission WHERE kb_id = %s AND user_id = %s", (base_id, user_id)
            )
            return
        try:
            await connection.execute(
                "INSERT INTO kb_permission (kb_id, user_id, level) VALUES (%s, %s, %s)"
                " ON CONFLICT (user_id, kb_id) DO UPDATE SET level = excluded.level",
                (base_id, user_id, int(level)),
            )
        except psycopg.errors.ForeignKeyViolation:
            return  # the base went away between the check and the grant: there is nothing to grant
