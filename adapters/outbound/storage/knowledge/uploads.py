"""Uploads in PostgreSQL: their records, their lease, their outcome."""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Update, delete, func, select, update
from sqlalchemy.dialects.postgresql import Insert, insert

from adapters.outbound.storage.arrays import Bigints
from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import is_rolled_back, retried
from adapters.outbound.storage.knowledge.tables import (
    FILE,
    SQL,
    file,
    file_of,
    kb_file,
    kb_piece,
    kb_text,
    kb_upload,
    knowledge_base,
)
from adapters.outbound.storage.pool import Connection, Database
from domain.events import EventKind
from domain.knowledge.model import FileStatus
from ports.knowledge_storage import Begun, Failure, NewFile, Work

log = logging.getLogger(__name__)

LEASE_SECONDS = 30
MANY_REFUSED = 1000
"""So many such uploads are remembered."""
MOST_REFUSED = 20
"""So many uploads are passed over for which the database refuses a lease."""
REFUSALS, REFUSED_SECONDS = 5, 60.0
"""After so many refusals, the first of which is so long ago, an upload is given up."""
TODO, WORKING, DONE, FAILED = range(4)

upload = kb_upload.c


async def log_upload(
    connection: Connection, kind: EventKind, upload_id: int, error: str | None = None
) -> None:
    """Records how an upload ended, with the files that belong to it at this point of the transaction."""
    parameters = {"kind": kind, "upload": upload_id, "error": None if error is None else storable(error)}
    await connection.execute(SQL["log_upload"], parameters)


REFUSED = "the database refuses to take the upload up"


class PostgresUploads:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._refusals: dict[int, tuple[float, int]] = {}

    @retried
    async def begin(
        self, base_id: int, user_id: str, files: Sequence[NewFile], respond_async: bool
    ) -> Begun | None:
        base = select(knowledge_base.c.id).filter_by(id=base_id).with_for_update(read=True, key_share=True)
        size = sum(new.size for new in files)
        begun = insert(kb_upload).values(
            kb_id=base_id, user_id=user_id, respond_async=respond_async, size=size
        )
        async with self._database.transaction() as connection:
            if await (await connection.run(base)).fetchone() is None:
                return None
            row = await (await connection.run(begun.returning(upload.id))).fetchone()
            assert row is not None
            return await self._add_files(connection, base_id, user_id, row[0], files)

    async def _add_files(
        self, connection: Connection, base_id: int, user_id: str, upload_id: int, files: Sequence[NewFile]
    ) -> Begun:
        fresh = False
        for new in sorted(files, key=lambda new: new.hash):  # one order for all: no deadlock
            cursor = await connection.run(_added(base_id, user_id, upload_id, new).returning(file.id))
            added = await cursor.fetchone() is not None
            fresh |= added
            if not added and new.source is None:
                await connection.execute(SQL["keep_file_for_good"], (base_id, new.hash))
        if not fresh:
            await connection.run(delete(kb_upload).filter_by(id=upload_id))
        stored = select(file.file_hash, file.id, file.status, file.file_name).filter_by(kb_id=base_id)
        cursor = await connection.run(stored.where(file.file_hash.in_([new.hash for new in files])))
        records = {row[0]: (row[1], FileStatus(row[2]), row[3]) for row in await cursor.fetchall()}
        versions = [
            {"page": new.source.page_id, "file": records[new.hash][0]}
            for new in files
            if new.source is not None
        ]
        await connection.cursor().executemany(SQL["next_version_of_page"], versions)
        return Begun(upload_id if fresh else None, [records[new.hash] for new in files])

    @retried
    async def rename(self, base_id: int, names: Mapping[str, str]) -> None:
        for file_hash, name in sorted(names.items()):
            other = update(kb_file).filter_by(kb_id=base_id, file_hash=file_hash)
            other = other.where(file.file_name != storable(name))
            await self._database.execute(
                other.values(file_name=storable(name), updated_at=func.clock_timestamp())
            )

    async def statuses(self, file_ids: Sequence[int]) -> Mapping[int, FileStatus]:
        rows = await self._database.fetch(SQL["statuses_of_files"], {"ids": Bigints(file_ids)})
        return {id: FileStatus(status) for id, status in rows}

    async def failure(self, upload_id: int) -> Failure | None:
        reasons = select(upload.failure_reason, upload.failure_message)
        row = await self._database.fetch_one(reasons.filter_by(id=upload_id, state=FAILED))
        return Failure(*row) if row else None

    async def claim(self, owner: int, *, newcomers_only: bool = False) -> Work | None:
        """An upload whose row the database refuses to lease keeps no others waiting, and is given up after a while.
        Raises its error where nothing else waits."""
        row: tuple[Any, ...] | None = None
        refusal: Exception | None = None
        for passed_over in range(MOST_REFUSED):
            try:
                row = await self._database.fetch_one(
                    SQL["claim_upload"], (newcomers_only, passed_over, owner)
                )
                break
            except Exception as error:
                if not is_rolled_back(error):
                    raise
                refusal = error
                await self._count_refusal(newcomers_only, passed_over)
        if row is None:
            if refusal is not None:
                raise refusal
            return None
        upload_id, base_id, attempts = row
        unstaged = select(*FILE).filter_by(upload_id=upload_id, staged=False).order_by(file.id)
        files = [file_of(file) for file in await self._database.fetch(unstaged)]
        return Work(upload_id, base_id, attempts, files)

    async def _count_refusal(self, newcomers_only: bool, passed_over: int) -> None:
        row = await self._database.fetch_one(SQL["next_upload"], (newcomers_only, passed_over))
        if row is None:
            return
        if len(self._refusals) >= MANY_REFUSED:
            self._refusals.clear()
        now = time.monotonic()
        first, count = self._refusals.get(row[0], (now, 0))
        self._refusals[row[0]] = first, count + 1
        if count + 1 < REFUSALS or now - first < REFUSED_SECONDS:
            return
        try:
            await self.remove(row[0], Failure("INTERNAL", REFUSED))
            self._refusals.pop(row[0])
        except Exception as error:
            if not is_rolled_back(error):
                raise
            log.exception("upload %d can be neither taken up nor given up", row[0])

    @retried
    async def remove(self, upload_id: int, failure: Failure) -> None:
        async with self._database.transaction() as connection:
            await log_upload(connection, EventKind.UPLOAD_FAILED, upload_id, failure.message)
            await self._take_back(connection, upload_id, failure, keep=True)
            await connection.run(delete(kb_upload).filter_by(id=upload_id))
        log.error("upload %d is removed: %s", upload_id, failure.message)

    async def renew(self, upload_id: int, owner: int) -> bool:
        until = func.now() + timedelta(seconds=LEASE_SECONDS)
        return await self._database.execute(leased(upload_id, owner).values(due_at=until)) > 0

    async def preparing(self, upload_id: int, owner: int, *, under_way: bool) -> None:
        await self._database.execute(leased(upload_id, owner).values(preparing=under_way))

    async def retry(self, upload_id: int, owner: int, seconds: float) -> None:
        at = func.now() + timedelta(seconds=seconds)
        await self._database.execute(leased(upload_id, owner).values(state=TODO, owner=None, due_at=at))

    @retried
    async def fail(self, work: Work, owner: int, failure: Failure) -> Sequence[str]:
        reason = {"failure_reason": failure.reason, "failure_message": storable(failure.message)}
        failed = leased(work.upload_id, owner).values(state=FAILED, owner=None, ended_at=func.now(), **reason)
        async with self._database.transaction() as connection:
            row = await (await connection.run(failed.returning(upload.respond_async))).fetchone()
            if row is None:
                return []
            await log_upload(connection, EventKind.UPLOAD_FAILED, work.upload_id, failure.message)
            for table in (kb_piece, kb_text):
                await connection.run(delete(table).filter_by(upload_id=work.upload_id))
            return await self._take_back(connection, work.upload_id, failure, keep=row[0])

    async def _take_back(
        self, connection: Connection, upload_id: int, failure: Failure, *, keep: bool
    ) -> Sequence[str]:
        """Without a caller who waits, the records stay and say why they failed; their content goes."""
        if keep:
            failed = {
                "status": FileStatus.FAILED,
                "error": storable(failure.message),
                "progress": 0,
                "text": "",
                "warnings": [],
            }
            kept = update(kb_file).filter_by(upload_id=upload_id)
            await connection.run(kept.values(**failed, staged=False, updated_at=func.clock_timestamp()))
            return []
        removed = delete(kb_file).filter_by(upload_id=upload_id).returning(file.blob_key)
        return [key for (key,) in await (await connection.run(removed)).fetchall()]

    async def forget_ended(self) -> Sequence[str]:
        yesterday = func.now() - timedelta(days=1)
        await self._database.execute(
            delete(kb_upload).where(upload.state >= DONE, upload.ended_at < yesterday)
        )
        old = delete(kb_file).where(file.status == FileStatus.FAILED, file.updated_at < yesterday)
        return await self._database.fetch_column(old.returning(file.blob_key))


def leased(upload_id: int, owner: int) -> Update:
    return update(kb_upload).filter_by(id=upload_id, owner=owner, state=WORKING)


def _added(base_id: int, user_id: str, upload_id: int, new: NewFile) -> Insert:
    """Inserts the record of a file; one that failed before is taken up anew by the upload that brings it again."""
    values = {
        "kb_id": base_id,
        "upload_id": upload_id,
        "file_name": storable(new.name),
        "blob_key": new.blob_key,
        "file_hash": new.hash,
        "size": new.size,
        "mime_type": new.mime_type,
        "uploaded_by": user_id,
        "status": FileStatus.PROCESSING,
        "source_url": None if new.source is None else storable(new.source.url),
        "synced": new.source is not None,
    }
    added = insert(kb_file).values(values)
    names = ("upload_id", "file_name", "blob_key", "uploaded_by", "status")
    begun = {name: added.excluded[name] for name in names}
    anew: dict[str, Any] = {"progress": 0, "error": None, "warnings": [], "staged": False}
    return added.on_conflict_do_update(
        index_elements=["kb_id", "file_hash"],
        set_={**begun, **anew, "updated_at": func.clock_timestamp()},
        where=file.status == FileStatus.FAILED,
    )
