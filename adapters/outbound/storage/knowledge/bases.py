"""Knowledge bases, permissions, memory tasks of removed bases, and the chosen embedding model in PostgreSQL."""

import json
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import (
    BASE,
    access,
    base,
    base_of,
    chosen_model,
    chunk,
    chunk_index,
    granted,
    kb_access,
    kb_file,
    kb_permission,
    kb_team_permission,
    kb_term,
    knowledge_base,
    memory_task,
)
from adapters.outbound.storage.knowledge.vector_indexes import drop_indexes
from adapters.outbound.storage.permissions import PermissionTables
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert
from domain.access.sharing import Grantee, Level, Permission
from domain.knowledge.model import Base, BaseChange, NewBase
from ports.system import MemoryTask

task = memory_task.c
PERMISSIONS = PermissionTables(kb_permission, kb_team_permission, "kb_id")


class PostgresBases:
    """`ports.knowledge_storage.BaseStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, owner: str, new: NewBase) -> Base:
        added = insert(knowledge_base).values(
            name=storable(new.name),
            description=storable(new.description),
            manifest=json.dumps(new.manifest, ensure_ascii=True),
            created_by=owner,
        )
        async with self._database.transaction() as connection:
            cursor = await connection.run(added.returning(*BASE, literal(Level.DELETE)))
            row = await cursor.fetchone()
            assert row is not None
            granted_level = {"user_id": owner, "kb_id": row[0], "level": int(Level.DELETE)}
            await connection.run(upsert(kb_permission, granted_level))
        return base_of(row)

    async def find(self, base_id: int, user_id: str) -> Base | None:
        joined = knowledge_base.outerjoin(kb_access, granted(base.id, user_id))
        statement = select(*BASE, access.level).select_from(joined).where(base.id == base_id)
        row = await self._database.fetch_one(statement)
        return base_of(row) if row else None

    async def of_user(self, user_id: str, among: Sequence[int] | None = None) -> Sequence[Base]:
        joined = knowledge_base.join(kb_access, granted(base.id, user_id))
        bases = select(*BASE, access.level).select_from(joined).order_by(base.id)
        if among is not None:
            bases = bases.where(base.id.in_(among))
        return [base_of(row) for row in await self._database.fetch(bases)]

    async def all(self) -> Sequence[Base]:
        bases = select(*BASE, literal(Level.DELETE)).order_by(base.id)
        return [base_of(row) for row in await self._database.fetch(bases)]

    async def change(self, base_id: int, change: BaseChange) -> bool:
        texts = {"name": change.name, "description": change.description}
        values = {name: storable(text) for name, text in texts.items() if text is not None}
        changed = update(knowledge_base).where(base.id == base_id)
        return await self._database.execute(changed.values(updated_at=func.clock_timestamp(), **values)) > 0

    async def drop_indexes(self, base_id: int) -> None:
        await drop_indexes(self._database, base_id)

    @retried
    async def remove(self, base_id: int, *, sync_memory: bool) -> Sequence[str] | None:
        statement = select(base.id).where(base.id == base_id).with_for_update()
        keys = select(kb_file.c.blob_key).where(kb_file.c.kb_id == base_id).distinct()
        async with self._database.transaction() as connection:
            if await (await connection.run(statement)).fetchone() is None:
                return None
            blobs = [key for (key,) in await (await connection.run(keys)).fetchall()]
            for table in (chunk_index, chunk, kb_term):
                await connection.run(
                    delete(table).where(table.c.kb_id == literal(base_id, literal_execute=True))
                )
            await connection.run(delete(knowledge_base).where(base.id == base_id))
            if sync_memory:
                await connection.run(insert(memory_task).values(kb_id=base_id))
        return blobs

    async def permissions(self, base_id: int) -> Sequence[Permission]:
        return await PERMISSIONS.of(self._database, base_id)

    async def grant(self, base_id: int, grantee: Grantee, level: Level) -> bool:
        return await PERMISSIONS.grant(self._database, base_id, grantee, level)

    async def due_memory_tasks(self, limit: int) -> Sequence[MemoryTask]:
        first = select(task.kb_id).where(task.due_at <= func.now()).order_by(task.due_at).limit(limit)
        due = first.with_for_update(skip_locked=True).subquery()
        leased = update(memory_task).where(task.kb_id == due.c.kb_id).returning(task.kb_id, task.attempts)
        leased = leased.values(due_at=func.now() + timedelta(minutes=2), attempts=task.attempts + 1)
        return [MemoryTask(*row) for row in await self._database.fetch(leased)]

    async def memory_task_done(self, base_id: int) -> None:
        await self._database.execute(delete(memory_task).filter_by(kb_id=base_id))

    async def postpone_memory_task(self, base_id: int, seconds: float, error: str) -> None:
        later = update(memory_task).filter_by(kb_id=base_id)
        await self._database.execute(
            later.values(due_at=func.now() + timedelta(seconds=seconds), last_error=storable(error))
        )


EMBEDDING = "embedding"


class PostgresChosenModel:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self) -> tuple[str, str] | None:
        """Name and precision."""
        row = await self._database.fetch_one(
            select(chosen_model.c.name, chosen_model.c.precision).filter_by(kind=EMBEDDING)
        )
        return (row[0], row[1]) if row else None

    async def choose(self, name: str, precision: str, *, unless_chosen: bool = False) -> None:
        choice = {"name": name, "precision": precision}
        chosen = insert(chosen_model).values(kind=EMBEDDING, **choice)
        if unless_chosen:
            chosen = chosen.on_conflict_do_nothing()
        else:
            chosen = chosen.on_conflict_do_update(index_elements=["kind"], set_=choice)
        await self._database.execute(chosen)
