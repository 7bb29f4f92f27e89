"""The pages of a source's pass in PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import exists, func, select

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import kb_source_page
from adapters.outbound.storage.pool import BULK_SECONDS, Connection, Database
from domain.knowledge.sources.model import (
    MOST_PAGES,
    LeasedSource,
    ListedPage,
    Listing,
    PageContent,
    PageKind,
    PageRefused,
    PageStatus,
    PageToRead,
    Validators,
)

MOST_FAILURES = 3
"""Passes in which a file that fails is tried, as long as its list tells no other version of it."""
page = kb_source_page.c
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


class PostgresSourcePages:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def settle(self, source_id: int) -> int:
        await self._database.execute(SETTLE, {"source": source_id})
        processing = select(func.count()).select_from(kb_source_page)
        processing = processing.filter_by(source_id=source_id, status=PageStatus.PROCESSING)
        return int(await self._database.fetch_value(processing))

    async def next(self, leased: LeasedSource) -> PageToRead | None:
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
            room = MOST_PAGES - await _count(connection, leased)
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

    async def has(self, leased: LeasedSource, key: bytes) -> bool:
        is_seen = exists().where(page.source_id == leased.id, page.key == key, page.round == leased.round)
        return bool(await self._database.fetch_value(select(is_seen)))


def _of_list(leased: LeasedSource, of: PageToRead) -> dict[str, Any]:
    return {"source": leased.id, "list": of.id, "round": leased.round, "unreachable": False}


def _told(validators: Validators) -> dict[str, Any]:
    data = {"etag": validators.etag, "last_modified": validators.last_modified}
    return {name: None if text is None else storable_reason(text) for name, text in data.items()}


async def _count(connection: Connection, leased: LeasedSource) -> int:
    counted = select(func.count()).select_from(kb_source_page)
    row = await (await connection.run(counted.filter_by(source_id=leased.id, round=leased.round))).fetchone()
    return int(row[0]) if row else 0


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
