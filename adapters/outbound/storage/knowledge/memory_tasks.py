"""Memory tasks in PostgreSQL; each try is leased by its due time."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import delete, func, select, update

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.knowledge.tables import memory_task
from adapters.outbound.storage.pool import Database
from ports.system import MemoryTask

task = memory_task.c


class PostgresMemoryTasks:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, limit: int) -> Sequence[MemoryTask]:
        first = select(task.kb_id).where(task.due_at <= func.now()).order_by(task.due_at).limit(limit)
        due = first.with_for_update(skip_locked=True).subquery()
        leased = update(memory_task).where(task.kb_id == due.c.kb_id).returning(task.kb_id, task.attempts)
        leased = leased.values(due_at=func.now() + timedelta(minutes=2), attempts=task.attempts + 1)
        return [MemoryTask(*row) for row in await self._database.fetch(leased)]

    async def done(self, base_id: int) -> None:
        await self._database.execute(delete(memory_task).filter_by(kb_id=base_id))

    async def later(self, base_id: int, seconds: float, error: str) -> None:
        later = update(memory_task).filter_by(kb_id=base_id)
        await self._database.execute(
            later.values(due_at=func.now() + timedelta(seconds=seconds), last_error=storable(error))
        )
