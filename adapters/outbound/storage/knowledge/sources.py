"""Sources of knowledge bases in PostgreSQL, their leases, and the web servers that they read.

A web server gets one request at a time, over all processes.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import (
    kb_file,
    kb_source,
    kb_source_page,
    knowledge_base,
    web_host,
)
from adapters.outbound.storage.pool import Database
from domain.knowledge.sources.model import (
    LeasedSource,
    NewSource,
    PageStatus,
    Source,
    SourceKind,
    SourcePage,
    SourceState,
    key_of,
)
from ports.http import KnownRobots

source, page = kb_source.c, kb_source_page.c

DETACHED = "no channel instance feeds this folder any more"

_UNDER_WAY = or_(source.state == SourceState.READING, source.owner.is_not(None))
_SOON = {
    "again": _UNDER_WAY,
    "due_at": case((_UNDER_WAY, source.due_at), else_=func.clock_timestamp()),
}
_NEXT_AT = case((source.state == SourceState.IDLE, source.due_at))
_COUNTED = select(
    func.count().filter(page.status != PageStatus.LISTED).label("found"),
    func.count(page.file_id).label("read"),
    func.count()
    .filter(page.status.in_((PageStatus.FAILED, PageStatus.SKIPPED, PageStatus.GONE)))
    .label("failed"),
    func.count().filter(page.status.in_((PageStatus.WAITING, PageStatus.PROCESSING))).label("waiting"),
).where(page.source_id == source.id)

DROP_FILES = """
INSERT INTO kb_unused_file
SELECT DISTINCT held.id FROM kb_source_page p, unnest(ARRAY[p.file_id, p.next_file_id]) held(id)
WHERE p.source_id = %(source)s AND held.id IS NOT NULL ON CONFLICT DO NOTHING
"""
KEEP = """
UPDATE kb_file SET synced = false WHERE id IN (
    SELECT unnest(ARRAY[file_id, next_file_id]) FROM kb_source_page WHERE source_id = %(source)s
)
"""
"""Index `kb_source_page_by_status`, primary key of `kb_file`."""


class PostgresSources:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, new: NewSource) -> int | None:
        base = (
            select(knowledge_base.c.id).filter_by(id=new.base_id).with_for_update(read=True, key_share=True)
        )
        values = {
            "kb_id": new.base_id,
            "kind": new.kind,
            "key": new.key,
            "address": storable(new.address),
            "instance_id": new.instance_id,
            "user_id": new.user_id,
            "by_admin": new.by_admin,
            "every_minutes": new.every,
        }
        added = insert(kb_source).values(values)
        changed = {
            name: added.excluded[name]
            for name in ("address", "user_id", "by_admin", "every_minutes", "instance_id")
        }
        put = added.on_conflict_do_update(index_elements=["kb_id", "key"], set_={**changed, **_SOON})
        async with self._database.transaction() as connection:
            if await (await connection.run(base)).fetchone() is None:
                return None
            row = await (await connection.run(put.returning(source.id))).fetchone()
        return None if row is None else int(row[0])

    async def sources(self, base_id: int, limit: int, before: int) -> Sequence[Source]:
        conditions = (source.id < before,) if before else ()
        return await self._found(limit, source.kb_id == base_id, *conditions)

    async def source(self, base_id: int, source_id: int) -> Source | None:
        sources = await self._found(1, source.kb_id == base_id, source.id == source_id)
        return sources[0] if sources else None

    async def _found(self, limit: int, *conditions: Any) -> Sequence[Source]:
        counted = _COUNTED.lateral("counted")
        columns = (
            *(source.id, source.kb_id, source.kind, source.address, source.instance_id, source.every_minutes),
            *(source.user_id, source.created_at, source.state, source.read_at, _NEXT_AT),
            *(source.error, source.note, *counted.c),
        )
        statement = (
            select(*columns).select_from(kb_source).join(counted, counted.c.found >= 0).where(*conditions)
        )
        rows = await self._database.fetch(statement.order_by(source.id.desc()).limit(limit))
        return [_source_of(row) for row in rows]

    async def pages(self, source_id: int, status: str, limit: int, after: int) -> Sequence[SourcePage]:
        columns = page.id, page.address, page.name, page.status, page.error, page.read_at, kb_file.c.file_hash
        joined = kb_source_page.outerjoin(kb_file, kb_file.c.id == page.file_id)
        conditions = (page.status == status,) if status else (page.status != PageStatus.LISTED,)
        statement = (
            select(*columns)
            .select_from(joined)
            .where(page.source_id == source_id, page.id > after, *conditions)
        )
        rows = await self._database.fetch(statement.order_by(page.id).limit(limit))
        return [_page_of(*row) for row in rows]

    async def read_now(self, source_id: int) -> None:
        await self._database.execute(update(kb_source).where(source.id == source_id).values(_SOON))

    async def detach(self, instance_id: int, base_id: int | None) -> None:
        others = update(kb_source).where(source.instance_id == instance_id)
        if base_id is not None:
            others = others.where(source.kb_id != base_id)
        await self._database.execute(others.values(instance_id=None, error=DETACHED))

    @retried
    async def remove(self, source_id: int, *, keep_files: bool) -> None:
        async with self._database.transaction() as connection:
            await connection.execute("SELECT FROM kb_source WHERE id = %s FOR UPDATE", (source_id,))
            await connection.execute(KEEP if keep_files else DROP_FILES, {"source": source_id})
            await connection.execute("DELETE FROM kb_source WHERE id = %s", (source_id,))


def _source_of(row: tuple[Any, ...]) -> Source:
    id_, base_id, kind, address, instance_id, every, user, created_at, state, *rest = row
    return Source(
        id_,
        base_id,
        SourceKind(kind),
        address,
        instance_id,
        every,
        user,
        created_at,
        SourceState(state),
        *rest,
    )


def _page_of(id_: int, address: str, name: str, status: str, *others: Any) -> SourcePage:
    return SourcePage(id_, address, name, PageStatus(status), *others)


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
        outcome = None if error is None else storable_reason(error)
        values = {"source": leased.id, "owner": owner, "round": leased.round, "error": outcome}
        async with self._database.transaction() as connection:
            if await (await connection.execute(FINISH, values)).fetchone() is not None:
                await connection.execute(REMOVE_GONE if error is None else GIVE_UP, values)

    async def unused_files(self, limit: int) -> Sequence[tuple[int, str]]:
        await self._database.execute(STILL_USED, {"limit": limit})
        rows = await self._database.fetch(UNUSED, {"limit": limit})
        return [(base_id, file_hash) for base_id, file_hash in rows]


ACQUIRE = """
INSERT INTO web_host (key, free_at) VALUES (%(key)s, now() + %(seconds)s * interval '1 second')
ON CONFLICT (key) DO UPDATE SET free_at = excluded.free_at WHERE web_host.free_at <= now() RETURNING 0.0
"""
WAIT = "SELECT greatest(0.1, extract(epoch FROM free_at - now()))::float8 FROM web_host WHERE key = %(key)s"
KEEP_HOST = """
UPDATE web_host SET robots = coalesce(%(text)s, robots), robots_error = %(error)s,
    robots_until = now() + %(seconds)s * interval '1 second'
WHERE key = %(key)s
"""

host = web_host.c


class PostgresWebHosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, host: str, seconds: float) -> float:
        values = {"key": key_of(host), "seconds": seconds}
        if await self._database.fetch_one(ACQUIRE, values) is not None:
            return 0.0
        return float(await self._database.fetch_value(WAIT, values) or 0.1)

    async def release(self, host: str, rest: float) -> None:
        await self._database.execute(
            "UPDATE web_host SET free_at = now() + %s * interval '1 second' WHERE key = %s",
            (rest, key_of(host)),
        )

    async def robots(self, name: str) -> KnownRobots:
        is_due = func.coalesce(host.robots_until < func.now(), True)
        statement = select(host.robots, host.robots_error, is_due).filter_by(key=key_of(name))
        row = await self._database.fetch_one(statement)
        return KnownRobots(*row) if row else KnownRobots(None, None, True)

    async def keep_robots(self, host: str, text: str | None, error: str | None, seconds: float) -> None:
        outcome = {
            "text": None if text is None else storable(text),
            "error": None if error is None else storable_reason(error),
        }
        await self._database.execute(KEEP_HOST, {"key": key_of(host), "seconds": seconds, **outcome})
