"""The living processes: heartbeats, and the advisory lock that ends with its process."""

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, exists, func, select

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import QueueKind
from adapters.outbound.storage.statements import upsert
from adapters.outbound.storage.tables import process

BEAT_SECONDS = 5.0
"""What a heartbeat may take: a late one is followed by the next."""
WORKERS = ("worker", "standalone")
OLDEST_DUE = f"""
SELECT extract(epoch FROM now() - least(
    (SELECT min(due_at) FROM queue WHERE kind = {QueueKind.INBOUND} AND pending > 0 AND due_at <= now()),
    (SELECT min(due_at) FROM queue WHERE kind = {QueueKind.OUTBOUND} AND pending > 0 AND due_at <= now())
))
"""
"""Index `queue_due`."""


class PostgresProcesses:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def worker_alive(self) -> bool:
        beating = exists().where(process.c.role.in_(WORKERS), ~_silent(timedelta(seconds=15)))
        return bool(await self._database.fetch_value(select(beating)))

    async def unworked(self) -> float | None:
        """For how many seconds messages have waited while no worker lives; None if one does, or none waits."""
        if await self.worker_alive():
            return None
        seconds = await self._database.fetch_value(OLDEST_DUE)
        return None if seconds is None else float(seconds)

    async def beat(self, worker_id: int, role: str) -> None:
        beat = upsert(process, {"worker_id": worker_id, "role": role, "beat_at": func.now()})
        await self._database.execute(beat, within=BEAT_SECONDS)

    async def leave(self, worker_id: int) -> None:
        await self._database.execute(delete(process).filter_by(worker_id=worker_id))

    async def remove_silent(self) -> int:
        return await self._database.execute(delete(process).where(_silent(timedelta(hours=1))))


def _silent(time: timedelta) -> ColumnElement[bool]:
    return process.c.beat_at <= func.now() - time
