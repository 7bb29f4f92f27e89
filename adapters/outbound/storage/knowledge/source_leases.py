"""The leases of sources in PostgreSQL, the end of a pass, and the files that no page has any more."""

from collections.abc import Sequence

from adapters.outbound.storage.codec import storable_reason
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from domain.knowledge.sources.model import LeasedSource, SourceKind

LEASE_SECONDS = 180
SILENT_LEFT = 150
"""A holder whose process shows no lock loses its lease once so few seconds of it are left: it may just have lost its
connection."""

CLAIM = f"""
WITH held AS (
    SELECT (k.classid::bigint << 32 | k.objid::bigint) AS owner FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), busy AS (
    SELECT user_id, count(*) AS n FROM kb_source WHERE owner IS NOT NULL AND due_at > now() GROUP BY user_id
), next AS (
    SELECT s.id, s.state <> 'reading' AS fresh FROM kb_source s LEFT JOIN busy b ON b.user_id = s.user_id
    WHERE (s.due_at <= now() OR s.owner IS NOT NULL AND s.owner NOT IN (SELECT owner FROM held)
        AND s.due_at <= now() + interval '{SILENT_LEFT} seconds')
    AND (b.n IS NULL OR NOT %(newcomers)s)
    ORDER BY coalesce(b.n, 0), s.due_at, s.id LIMIT 1 FOR UPDATE OF s SKIP LOCKED
), begun AS (
    UPDATE kb_source s SET owner = %(owner)s, due_at = now() + interval '{LEASE_SECONDS} seconds', state = 'reading',
        round = s.round + (s.state <> 'reading')::int,
        trouble = CASE s.state WHEN 'reading' THEN s.trouble ELSE 0 END,
        note = CASE s.state WHEN 'reading' THEN s.note END
    FROM next WHERE s.id = next.id
    RETURNING s.id, s.kb_id, s.kind, s.address, s.instance_id, s.user_id, s.by_admin, s.round, s.trouble, s.key, fresh
), rooted AS (
    INSERT INTO kb_source_page (source_id, key, kind, address, round)
    SELECT id, key, 'root', address, round FROM begun WHERE fresh
    ON CONFLICT (source_id, key) DO UPDATE SET round = excluded.round, status = 'waiting', attempts = 0,
        address = excluded.address
    WHERE kb_source_page.round < excluded.round
)
SELECT id, kb_id, kind, address, instance_id, user_id, by_admin, round, trouble FROM begun
"""
"""Leases a source and begins its pass with its own address. Indexes `kb_source_due`, `kb_source_leased`."""

REMOVE_GONE = """
WITH gone AS (
    DELETE FROM kb_source_page WHERE source_id = %(source)s AND round < %(round)s RETURNING file_id, next_file_id
)
INSERT INTO kb_unused_file SELECT DISTINCT held.id FROM gone, unnest(ARRAY[file_id, next_file_id]) held(id)
WHERE held.id IS NOT NULL ON CONFLICT DO NOTHING
"""
"""Index `kb_source_page_by_round`."""
FINISH = """
UPDATE kb_source s SET state = 'idle', owner = NULL, read_at = now(), trouble = 0,
    due_at = CASE WHEN s.again THEN now() ELSE now() + s.every_minutes * interval '1 minute' END, again = false,
    error = coalesce(%(error)s, (
        SELECT p.error FROM kb_source_page p
        WHERE p.source_id = s.id AND p.key = s.key AND p.status IN ('failed', 'skipped', 'gone')
    ))
WHERE s.id = %(source)s AND s.owner = %(owner)s RETURNING s.id
"""
GIVE_UP = """
UPDATE kb_source_page SET status = 'failed', error = %(error)s WHERE source_id = %(source)s AND status = 'waiting'
"""
STILL_USED = """
WITH used AS (
    SELECT u.file_id, (
        SELECT p.address FROM kb_source_page p WHERE p.file_id = u.file_id OR p.next_file_id = u.file_id LIMIT 1
    ) AS address, f.synced
    FROM kb_unused_file u JOIN kb_file f ON f.id = u.file_id ORDER BY u.file_id LIMIT %(limit)s
), kept AS (
    DELETE FROM kb_unused_file u USING used
    WHERE u.file_id = used.file_id AND (used.address IS NOT NULL OR NOT used.synced)
)
UPDATE kb_file f SET source_url = used.address FROM used WHERE f.id = used.file_id AND used.address IS NOT NULL
"""
UNUSED = """
SELECT f.kb_id, f.file_hash FROM kb_unused_file u JOIN kb_file f ON f.id = u.file_id
ORDER BY u.file_id LIMIT %(limit)s
"""


class PostgresSourceLeases:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, owner: int, *, newcomers_only: bool) -> LeasedSource | None:
        row = await self._database.fetch_one(CLAIM, {"owner": owner, "newcomers": newcomers_only})
        if row is None:
            return None
        id_, base_id, kind, *others = row
        return LeasedSource(id_, base_id, SourceKind(kind), *others)

    async def release(self, source_id: int, owner: int, pause: float) -> None:
        await self._database.execute(
            "UPDATE kb_source SET owner = NULL, due_at = now() + %s * interval '1 second'"
            " WHERE id = %s AND owner = %s",
            (pause, source_id, owner),
        )

    @retried
    async def finish(self, leased: LeasedSource, owner: int, error: str | None = None) -> None:
        told = None if error is None else storable_reason(error)
        values = {"source": leased.id, "owner": owner, "round": leased.round, "error": told}
        async with self._database.transaction() as connection:
            if await (await connection.execute(FINISH, values)).fetchone() is not None:
                await connection.execute(REMOVE_GONE if error is None else GIVE_UP, values)

    async def unused_files(self, limit: int) -> Sequence[tuple[int, str]]:
        await self._database.execute(STILL_USED, {"limit": limit})
        rows = await self._database.fetch(UNUSED, {"limit": limit})
        return [(base_id, file_hash) for base_id, file_hash in rows]
