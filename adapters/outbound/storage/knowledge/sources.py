"""Sources of knowledge bases in PostgreSQL: what their users see, their leases, and the pages of their passes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import kb_file, kb_source, kb_source_page, knowledge_base
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from domain.knowledge.sources.model import (
    MOST_PAGES,
    LeasedSource,
    ListedPage,
    Listing,
    NewSource,
    PageContent,
    PageKind,
    PageRefused,
    PageStatus,
    PageToRead,
    Source,
    SourceKind,
    SourcePage,
    SourceState,
    Validators,
)

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

MOST_FAILURES = 3
"""Passes in which a file that fails is tried, as long as its list tells no other version of it."""
SETTLE = """
WITH ended AS (
    SELECT p.id, p.file_id AS old, f.id AS new, coalesce(f.status, 'failed') = 'ready' AS ready, f.error
    FROM kb_source_page p LEFT JOIN kb_file f ON f.id = p.next_file_id
    WHERE p.source_id = %(source)s AND p.status = 'processing' AND f.status IS DISTINCT FROM 'processing'
), changed AS (
    UPDATE kb_source_page p SET next_file_id = NULL, status = CASE WHEN e.ready THEN 'read' ELSE 'failed' END,
        file_id = CASE WHEN e.ready THEN e.new ELSE p.file_id END,
        error = CASE WHEN NOT e.ready THEN coalesce(e.error, 'its file was deleted while it was being processed') END,
        etag = CASE WHEN e.ready THEN p.etag END, last_modified = CASE WHEN e.ready THEN p.last_modified END,
        attempts = p.attempts + (NOT e.ready)::int
    FROM ended e WHERE p.id = e.id
)
INSERT INTO kb_unused_file SELECT DISTINCT CASE WHEN ready THEN old ELSE new END FROM ended
WHERE CASE WHEN ready THEN old <> new ELSE new IS NOT NULL END ON CONFLICT DO NOTHING
"""
"""Index `kb_source_page_by_status`."""
LISTED = """
INSERT INTO kb_source_page (
    source_id, key, kind, address, name, listed_by, listed_version, round, status, error
)
SELECT %(source)s, l.key, l.kind, l.address, l.name, %(list)s, l.version, %(round)s,
    CASE WHEN l.problem IS NULL THEN 'waiting' ELSE 'skipped' END, l.problem
FROM unnest(
    %(keys)s::bytea[], %(kinds)s::text[], %(addresses)s::text[], %(names)s::text[], %(versions)s::text[],
    %(problems)s::text[]
) WITH ORDINALITY l(key, kind, address, name, version, problem, place)
ORDER BY l.place
ON CONFLICT (source_id, key) DO UPDATE SET round = excluded.round, listed_by = excluded.listed_by,
    listed_version = excluded.listed_version, name = coalesce(nullif(excluded.name, ''), kb_source_page.name),
    address = excluded.address,
    attempts = CASE WHEN kb_source_page.version = excluded.listed_version THEN kb_source_page.attempts ELSE 0 END,
    error = CASE WHEN kb_source_page.version = excluded.listed_version AND excluded.error IS NULL
        THEN kb_source_page.error ELSE excluded.error END,
    status = CASE WHEN excluded.status = 'waiting' AND kb_source_page.version = excluded.listed_version AND (
        kb_source_page.status = 'read' AND kb_source_page.file_id IS NOT NULL
        OR kb_source_page.status = 'failed' AND kb_source_page.attempts >= %(most)s
    ) THEN kb_source_page.status ELSE excluded.status END
WHERE kb_source_page.round < excluded.round
"""
"""Index `kb_source_page_key`."""
AS_BEFORE = """
UPDATE kb_source_page SET round = %(round)s,
    status = CASE WHEN listed_version IS NULL THEN 'waiting' ELSE status END,
    attempts = CASE WHEN listed_version IS NULL THEN 0 ELSE attempts END
WHERE source_id = %(source)s AND listed_by = %(list)s AND round < %(round)s
"""
"""Index `kb_source_page_by_list`."""
DROP_SKIPPED = """
WITH dropped AS (
    SELECT id, file_id FROM kb_source_page
    WHERE source_id = %(source)s AND status IN ('skipped', 'gone') AND file_id IS NOT NULL
), cleared AS (
    UPDATE kb_source_page p SET file_id = NULL, etag = NULL, last_modified = NULL, version = NULL
    FROM dropped d WHERE p.id = d.id
)
INSERT INTO kb_unused_file SELECT DISTINCT file_id FROM dropped ON CONFLICT DO NOTHING
"""
"""Index `kb_source_page_by_status`."""
UNCHANGED = """
UPDATE kb_source_page p SET read_at = now(), error = NULL, status = CASE WHEN EXISTS (
    SELECT FROM kb_source_page l WHERE l.source_id = p.source_id AND l.listed_by = p.id
) THEN 'listed' ELSE 'read' END WHERE p.id = %(list)s
"""
"""Index `kb_source_page_by_list`."""
IS_LIST = """
UPDATE kb_source_page SET status = 'listed', read_at = now(), error = NULL, etag = %(etag)s,
    last_modified = %(last_modified)s
WHERE id = %(list)s
"""
STORED = """
UPDATE kb_source_page SET read_at = now(), etag = %(etag)s, last_modified = %(last_modified)s, name = %(name)s,
    version = listed_version
WHERE id = %(page)s
"""
REFUSED = """
UPDATE kb_source_page SET status = %(status)s, error = %(error)s, attempts = attempts + 1, version = listed_version
WHERE id = %(list)s
"""
TROUBLE = """
UPDATE kb_source SET trouble = CASE WHEN %(unreachable)s THEN trouble + 1 ELSE 0 END
WHERE id = %(source)s AND (trouble > 0 OR %(unreachable)s)
"""
NOTE = "UPDATE kb_source SET note = left(concat_ws(' ', note, %(note)s::text), 1000) WHERE id = %(source)s"


class PostgresSources:
    """`ports.knowledge.SourceStore`."""

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
        return [
            Source(id, base, SourceKind(kind), address, instance, every, user, at, SourceState(state), *rest)
            for id, base, kind, address, instance, every, user, at, state, *rest in rows
        ]

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
        return [
            SourcePage(id, address, name, PageStatus(status), *rest)
            for id, address, name, status, *rest in rows
        ]

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

    async def settle(self, source_id: int) -> int:
        await self._database.execute(SETTLE, {"source": source_id})
        processing = select(func.count()).select_from(kb_source_page)
        processing = processing.filter_by(source_id=source_id, status=PageStatus.PROCESSING)
        return int(await self._database.fetch_value(processing))

    async def next_page(self, leased: LeasedSource) -> PageToRead | None:
        pages = kb_source_page.alias("listed").c
        is_list = exists().where(pages.source_id == leased.id, pages.listed_by == page.id)
        columns = (page.id, page.kind, page.address, page.name, page.attempts, page.etag, page.last_modified)
        waiting = select(*columns, is_list, page.file_id.is_not(None))
        waiting = waiting.filter_by(source_id=leased.id, status=PageStatus.WAITING).order_by(page.id).limit(1)
        fresh = waiting.where(page.attempts == 0)
        row = await self._database.fetch_one(fresh) or await self._database.fetch_one(waiting)
        if row is None:
            return None
        id_, kind, address, name, attempts, etag, modified, is_list_now, has_file = row
        known = Validators(etag, modified) if is_list_now or has_file else Validators()
        return PageToRead(id_, PageKind(kind), address, name, attempts, is_list_now, known)

    @retried
    async def unchanged(self, leased: LeasedSource, of: PageToRead) -> None:
        values = _of_list(leased, of)
        async with self._database.transaction(BULK_SECONDS) as connection:
            for statement in (AS_BEFORE, UNCHANGED, TROUBLE):
                await connection.execute(statement, values)

    @retried
    async def listed(self, leased: LeasedSource, of: PageToRead, listing: Listing) -> None:
        values = {**_of_list(leased, of), **_told(listing.validators)}
        async with self._database.transaction(BULK_SECONDS) as connection:
            pages_of_pass = select(func.count()).select_from(kb_source_page)
            pages_of_pass = pages_of_pass.filter_by(source_id=leased.id, round=leased.round)
            [(count,)] = await (await connection.run(pages_of_pass)).fetchall()
            room = MOST_PAGES - count
            left_out = len(listing.pages) - room
            notes = [
                listing.note,
                f"{left_out} addresses are too many, and passed over." if left_out > 0 else None,
            ]
            pages = _columns(listing.pages[: max(0, room)])
            await connection.execute(LISTED, {**values, **pages, "most": MOST_FAILURES})
            for statement in (IS_LIST, DROP_SKIPPED, TROUBLE):
                await connection.execute(statement, values)
            for note in filter(None, notes):
                await connection.execute(NOTE, {**values, "note": storable_reason(note)})

    async def stored(self, leased: LeasedSource, of: PageToRead, content: PageContent) -> None:
        values = {"page": of.id, "name": storable_reason(content.name), **_told(content.validators)}
        await self._database.execute(STORED, values)
        await self._database.execute(TROUBLE, _of_list(leased, of))

    @retried
    async def refused(self, leased: LeasedSource, of: PageToRead, refusal: PageRefused) -> None:
        why = {"status": refusal.status, "error": storable_reason(refusal.reason)}
        values = {**_of_list(leased, of), **why, "unreachable": refusal.unreachable}
        async with self._database.transaction(BULK_SECONDS) as connection:
            if refusal.status is not PageStatus.WAITING:
                await connection.execute(AS_BEFORE, values)
            for statement in (REFUSED, DROP_SKIPPED, TROUBLE):
                await connection.execute(statement, values)

    async def has_page(self, leased: LeasedSource, key: bytes) -> bool:
        is_seen = exists().where(page.source_id == leased.id, page.key == key, page.round == leased.round)
        return bool(await self._database.fetch_value(select(is_seen)))


def _of_list(leased: LeasedSource, of: PageToRead) -> dict[str, Any]:
    return {"source": leased.id, "list": of.id, "round": leased.round, "unreachable": False}


def _told(validators: Validators) -> dict[str, Any]:
    data = {"etag": validators.etag, "last_modified": validators.last_modified}
    return {name: None if text is None else storable_reason(text) for name, text in data.items()}


def _columns(pages: Sequence[ListedPage]) -> dict[str, Any]:
    problems = [None if item.problem is None else storable_reason(item.problem) for item in pages]
    return {
        "keys": [item.key for item in pages],
        "kinds": [str(item.kind) for item in pages],
        "addresses": [storable(item.address) for item in pages],
        "names": [storable(item.name) for item in pages],
        "versions": [item.version for item in pages],
        "problems": problems,
    }
