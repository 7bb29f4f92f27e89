"""Sources of knowledge bases in PostgreSQL: what their users see, their leases, and the pages of their passes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import SQL, kb_file, kb_source, kb_source_page, knowledge_base
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


MOST_FAILURES = 3
"""Passes in which a file that fails is tried, as long as its list tells no other version of it."""


class PostgresSources:
    """`ports.knowledge.SourceStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
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
            await connection.execute(
                SQL["keep_files_of_source"] if keep_files else SQL["drop_files_of_source"],
                {"source": source_id},
            )
            await connection.execute("DELETE FROM kb_source WHERE id = %s", (source_id,))

    async def claim(self, owner: int, *, newcomers_only: bool) -> LeasedSource | None:
        row = await self._database.fetch_one(
            SQL["claim_source"], {"owner": owner, "newcomers": newcomers_only}
        )
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
            if await (await connection.execute(SQL["finish_pass"], values)).fetchone() is not None:
                await connection.execute(
                    SQL["remove_gone_pages"] if error is None else SQL["give_up_pages"], values
                )

    async def unused_files(self, limit: int) -> Sequence[tuple[int, str]]:
        await self._database.execute(SQL["keep_used_files"], {"limit": limit})
        rows = await self._database.fetch(SQL["unused_files"], {"limit": limit})
        return [(base_id, file_hash) for base_id, file_hash in rows]

    async def settle(self, source_id: int) -> int:
        await self._database.execute(SQL["settle_pages"], {"source": source_id})
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
            for statement in (SQL["list_as_before"], SQL["unchanged_list"], SQL["count_trouble"]):
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
            await connection.execute(SQL["list_pages"], {**values, **pages, "most": MOST_FAILURES})
            for statement in (SQL["page_is_list"], SQL["drop_skipped"], SQL["count_trouble"]):
                await connection.execute(statement, values)
            for note in filter(None, notes):
                await connection.execute(SQL["note_of_source"], {**values, "note": storable_reason(note)})

    async def stored(self, leased: LeasedSource, of: PageToRead, content: PageContent) -> None:
        values = {"page": of.id, "name": storable_reason(content.name), **_told(content.validators)}
        await self._database.execute(SQL["page_stored"], values)
        await self._database.execute(SQL["count_trouble"], _of_list(leased, of))

    @retried
    async def refused(self, leased: LeasedSource, of: PageToRead, refusal: PageRefused) -> None:
        why = {"status": refusal.status, "error": storable_reason(refusal.reason)}
        values = {**_of_list(leased, of), **why, "unreachable": refusal.unreachable}
        async with self._database.transaction(BULK_SECONDS) as connection:
            if refusal.status is not PageStatus.WAITING:
                await connection.execute(SQL["list_as_before"], values)
            for statement in (SQL["page_refused"], SQL["drop_skipped"], SQL["count_trouble"]):
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
