"""Memory tasks in PostgreSQL; each try is leased by its due time."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.pool import Database
from ports.memory import MemoryTask


class PostgresMemoryTasks:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, limit: int) -> Sequence[MemoryTask]:
        rows = await self._database.fetch(
            "UPDATE memory_task t SET due_at = now() + interval '2 minutes', attempts = attempts + 1 FROM ("
            "   SELECT kb_id FROM memory_task WHERE due_at <= now() ORDER BY due_at LIMIT %s"
            "   FOR UPDATE SKIP LOCKED"
            " ) next WHERE t.kb_id = next.kb_id RETURNING t.kb_id, t.attempts",
            (limit,),
        )
        return [MemoryTask(*row) for row in rows]

    async def done(self, base_id: int) -> None:
        await self._database.execute("DELETE FROM memory_task WHERE kb_id = %s", (base_id,))

    async def later(self, base_id: int, seconds: float, error: str) -> None:
        await self._database.execute(
            "UPDATE memory_task SET due_at = now() + make_interval(secs => %s), last_error = %s"
            " WHERE kb_id = %s",
            (seconds, storable(error), base_id),
        )
