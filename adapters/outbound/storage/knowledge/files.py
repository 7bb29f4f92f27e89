"""File records and chunks in PostgreSQL, as they are read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, case, func, literal, select

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.knowledge.rows import CHUNK, FILE, file, file_of, granted, permission
from adapters.outbound.storage.knowledge.states import named, queue_positions
from adapters.outbound.storage.knowledge.tables import chunk, kb_file, kb_permission
from adapters.outbound.storage.knowledge.uploads import TODO, upload
from adapters.outbound.storage.pool import Database
from domain.knowledge.model import ALL_FILES, Chunk, FileRecord, FileStatus, FilesWanted, Level, TextWindow

_UPLOAD = select(upload.id).where(upload.id == file.upload_id, upload.state == TODO).scalar_subquery()
_WAITING = case((file.status == FileStatus.PROCESSING, _UPLOAD))
_NO_TEXT = literal("").label("text")

LONGEST_TEXT = 2**30
"""Bytes, and so characters, of a value in PostgreSQL."""


class PostgresFiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_base(self, base_id: int, wanted: FilesWanted = ALL_FILES) -> Sequence[FileRecord]:
        text = file.text if wanted.with_text else _NO_TEXT
        columns = [text if column is file.text else column for column in FILE]
        files = select(*columns, _WAITING).where(file.kb_id == base_id, *named(wanted.name))
        window = files.order_by(file.id).limit(wanted.limit).offset(wanted.offset or None)
        return await self._records(await self._database.fetch(window))

    async def _records(self, rows: Sequence[tuple[Any, ...]]) -> list[FileRecord]:
        """The records of rows with the columns `FILE` and `_WAITING`."""
        waiting = {row[0]: row[-1] for row in rows if row[-1] is not None}
        places = await queue_positions(self._database, list(set(waiting.values())))
        records = [file_of(row[:-1]) for row in rows]
        return [replace(record, queue_position=places.get(waiting.get(record.id, 0))) for record in records]

    async def find(self, file_hash: str, user_id: str, *, readable: bool) -> tuple[FileRecord, Level] | None:
        columns = select(*FILE, _WAITING, permission.level)
        row = await self._database.fetch_one(_first(columns, file_hash, user_id, readable=readable))
        if row is None:
            return None
        (record,) = await self._records([row[:-1]])
        return record, Level(row[-1] or 0)

    async def text(
        self, file_hash: str, user_id: str, start: int, length: int, *, readable: bool
    ) -> TextWindow | None:
        first = _first(select(file.id), file_hash, user_id, readable=readable).scalar_subquery()
        ready = case((file.status == "ready", file.text), else_="")
        begin = min(start, LONGEST_TEXT) + 1
        stretch = select(file.file_name, func.substring(ready, begin, length), func.char_length(ready))
        row = await self._database.fetch_one(stretch.where(file.id == first))
        return TextWindow(file_hash, row[0], row[1], start, row[2]) if row else None

    async def chunk(self, chunk_id: str, user_id: str) -> tuple[Chunk, Level] | None:
        joined = chunk.join(kb_file, file.id == chunk.c.file_id)
        joined = joined.outerjoin(kb_permission, granted(file.kb_id, user_id))
        chunks = select(*CHUNK, permission.level).select_from(joined)
        row = await self._database.fetch_one(chunks.where(chunk.c.chunk_id == storable(chunk_id)).limit(1))
        return (Chunk(*row[:-1]), Level(row[-1] or 0)) if row else None

    async def chunks(self, record: FileRecord, limit: int, offset: int) -> tuple[Sequence[Chunk], int]:
        count = select(case((file.status == "ready", file.chunk_count), else_=0)).where(file.id == record.id)
        of_file = (file.id == record.id, chunk.c.kb_id == record.base_id, chunk.c.file_id == record.id)
        window = select(*CHUNK).where(*of_file).order_by(chunk.c.position).limit(limit).offset(offset)
        total = await self._database.fetch_value(count)
        return [Chunk(*row) for row in await self._database.fetch(window)], total or 0


def _first(columns: Select[Any], file_hash: str, user_id: str, *, readable: bool) -> Select[Any]:
    """The record of that hash: the user's own, else one that the user may READ, else any."""
    may_read = permission.level.is_not(None)
    return (
        columns.select_from(kb_file.outerjoin(kb_permission, granted(file.kb_id, user_id)))
        .where(file.file_hash == storable(file_hash), *([may_read] if readable else []))
        .order_by((file.uploaded_by == user_id).desc(), may_read.desc())
        .order_by((file.status == "ready").desc(), file.id)
        .limit(1)
    )
