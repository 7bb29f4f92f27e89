"""The living processes: heart-beats, and the advisory lock that dies with its process."""

from __future__ import annotations

from adapters.outbound.storage.pool import Database

BEAT_SECONDS = 5.0
"""What a heart-beat may take: a late one is followed by the next."""


class PostgresProcesses:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def worker_alive(self) -> bool:
        row = await self._database.fetch_one(
            "SELECT EXISTS (SELECT FROM process WHERE role IN ('worker', 'standalone')"
            " AND beat_at > now() - interval '15 seconds')"
        )
        return bool(row and row[0])

    async def beat(self, incarnation: int, role: str) -> None:
        await self._database.execute(
            "INSERT INTO process (incarnation, role) VALUES (%s, %s)"
            " ON CONFLICT (incarnation) DO UPDATE SET beat_at = now()",
            (incarnation, role),
            within=BEAT_SECONDS,
        )

    async def leave(self, incarnation: int) -> None:
        await self._database.execute("DELETE FROM process WHERE incarnation = %s", (incarnation,))

    async def bury(self) -> int:
        """Forgets processes that have been silent for an hour."""
        return await self._database.execute("DELETE FROM process WHERE beat_at < now() - interval '1 hour'")
