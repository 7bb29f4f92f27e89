"""Which stored blobs are in use: by file records, or by uploads under way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from adapters.outbound.storage.pool import Database

SPARE = timedelta(days=1)
"""How much longer than the links to them bytes are held."""

KEEP_UNSENT = """
UPDATE blob SET touched_at = now() WHERE touched_at < now() - interval '12 hours' AND key IN (
    SELECT (regexp_matches(message, '"blob":"([^"]+)"', 'g'))[1] FROM outbox
    WHERE status IN (0, 2) AND created_at < now() - interval '12 hours' AND position('"blob":"' IN message) > 0
)
"""


class PostgresBlobHolds:
    """A hold that is older than `life` and a day has served its message, or is of a process that died."""

    def __init__(self, database: Database, life: timedelta = timedelta()) -> None:
        self._database = database
        self._held = life + SPARE

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
    async def locked_unreferenced(self, keys: Sequence[str]) -> AsyncIterator[Sequence[str]]:
        """Those of the blobs that nothing uses, locked; they are forgotten when the block ends well."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "SELECT key FROM blob b WHERE key = ANY(%s)"
                " AND (holds = 0 OR touched_at < now() - %s)"
                " AND NOT EXISTS (SELECT FROM kb_file f WHERE f.blob_key = b.key)"
                " ORDER BY key FOR UPDATE",
                (list(keys), self._held),
            )
            unused = [key for (key,) in await cursor.fetchall()]
            yield unused
            await connection.execute("DELETE FROM blob WHERE key = ANY(%s)", (unused,))

    async def keep_unsent(self) -> None:
        await self._database.execute(KEEP_UNSENT)

    async def left_over(self, limit: int) -> Sequence[str]:
        """Blobs that nothing has used for an hour."""
        rows = await self._database.fetch(
            "SELECT key FROM blob b WHERE touched_at < now() - interval '1 hour'"
            " AND (holds = 0 OR touched_at < now() - %s)"
            " AND NOT EXISTS (SELECT FROM kb_file f WHERE f.blob_key = b.key) LIMIT %s",
            (self._held, limit),
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
