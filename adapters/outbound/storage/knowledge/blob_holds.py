"""Which stored blobs are in use: by file records, or by uploads under way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.outbound.storage.pool import Database

FORGOTTEN = "1 day"
"""A hold older than this belongs to a process that died."""


class PostgresBlobHolds:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def hold(self, key: str, size: int) -> None:
        await self._database.execute(
            "INSERT INTO blob (key, size, holds) VALUES (%s, %s, 1)"
            " ON CONFLICT (key) DO UPDATE SET holds = blob.holds + 1, touched_at = clock_timestamp()",
            (key, size),
        )

    async def release(self, keys: Sequence[str]) -> None:
        await self._database.execute(
            "UPDATE blob SET holds = greatest(0, holds - n) FROM"
            " (SELECT k.key, count(*) AS n FROM unnest(%s::text[]) k(key) GROUP BY k.key) gone"
            " WHERE blob.key = gone.key",
            (list(keys),),
        )

    @asynccontextmanager
    async def forgetting(self, keys: Sequence[str]) -> AsyncIterator[Sequence[str]]:
        """Those of the blobs that nothing uses, locked; they are forgotten when the block ends well."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "SELECT key FROM blob b WHERE key = ANY(%s)"
                f" AND (holds = 0 OR touched_at < now() - interval '{FORGOTTEN}')"
                " AND NOT EXISTS (SELECT FROM kb_file f WHERE f.blob_key = b.key)"
                " ORDER BY key FOR UPDATE",
                (list(keys),),
            )
            unused = [key for (key,) in await cursor.fetchall()]
            yield unused
            await connection.execute("DELETE FROM blob WHERE key = ANY(%s)", (unused,))

    async def left_over(self, limit: int) -> Sequence[str]:
        """Blobs that nothing has used for an hour."""
        rows = await self._database.fetch(
            "SELECT key FROM blob b WHERE touched_at < now() - interval '1 hour'"
            f" AND (holds = 0 OR touched_at < now() - interval '{FORGOTTEN}')"
            " AND NOT EXISTS (SELECT FROM kb_file f WHERE f.blob_key = b.key) LIMIT %s",
            (limit,),
        )
        return [key for (key,) in rows]

    async def unknown(self, keys: Sequence[str]) -> Sequence[str]:
        """Those of the keys that no row knows."""
        rows = await self._database.fetch(
            "SELECT k.key FROM unnest(%s::text[]) k(key)"
            " WHERE NOT EXISTS (SELECT FROM blob b WHERE b.key = k.key)",
            (list(keys),),
        )
        return [key for (key,) in rows]
