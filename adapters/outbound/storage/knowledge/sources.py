"""Sources of knowledge bases in PostgreSQL, as their users see them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.source_tables import kb_source, kb_source_page
from adapters.outbound.storage.knowledge.tables import kb_file, knowledge_base
from adapters.outbound.storage.pool import Database
from domain.knowledge.sources.model import (
    NewSource,
    PageStatus,
    Source,
    SourceKind,
    SourcePage,
    SourceState,
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
        wanted = (source.id < before,) if before else ()
        return await self._found(limit, source.kb_id == base_id, *wanted)

    async def source(self, base_id: int, source_id: int) -> Source | None:
        found = await self._found(1, source.kb_id == base_id, source.id == source_id)
        return found[0] if found else None

    async def _found(self, limit: int, *conditions: Any) -> Sequence[Source]:
        counted = _COUNTED.lateral("counted")
        columns = (
            *(source.id, source.kb_id, source.kind, source.address, source.instance_id, source.every_minutes),
            *(source.user_id, source.created_at, source.state, source.read_at, _NEXT_AT),
            *(source.error, source.note, *counted.c),
        )
        found = select(*columns).select_from(kb_source).join(counted, counted.c.found >= 0).where(*conditions)
        rows = await self._database.fetch(found.order_by(source.id.desc()).limit(limit))
        return [_source_of(row) for row in rows]

    async def pages(self, source_id: int, status: str, limit: int, after: int) -> Sequence[SourcePage]:
        columns = page.id, page.address, page.name, page.status, page.error, page.read_at, kb_file.c.file_hash
        joined = kb_source_page.outerjoin(kb_file, kb_file.c.id == page.file_id)
        wanted = (page.status == status,) if status else (page.status != PageStatus.LISTED,)
        found = (
            select(*columns).select_from(joined).where(page.source_id == source_id, page.id > after, *wanted)
        )
        rows = await self._database.fetch(found.order_by(page.id).limit(limit))
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
