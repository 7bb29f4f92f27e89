"""Files of knowledge bases in PostgreSQL: their records and chunks, their states, and their removal."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, delete, func, literal, null, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import (
    CHUNK,
    FILE,
    SQL,
    access,
    chunk,
    chunk_index,
    file,
    file_of,
    granted,
    kb_access,
    kb_file,
    kb_piece,
    kb_text,
    kb_upload,
    knowledge_base,
)
from adapters.outbound.storage.knowledge.uploads import FAILED, TODO, WORKING, log_upload, upload
from adapters.outbound.storage.knowledge.word_index import indexed_words
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.schema import columns_of
from domain.access.sharing import Level
from domain.events import EventKind
from domain.knowledge.ingest import cancelled
from domain.knowledge.model import (
    ALL_FILES,
    Chunk,
    ChunkPlace,
    FileRecord,
    FileState,
    FileStatus,
    FileStep,
    FilesWanted,
    TextWindow,
)

_UPLOAD = select(upload.id).where(upload.id == file.upload_id, upload.state == TODO).scalar_subquery()
_WAITING = case((file.status == FileStatus.PROCESSING, _UPLOAD))
_NO_TEXT = literal("").label("text")

LONGEST_TEXT = 2**30
"""Bytes, and so characters, of a value in PostgreSQL."""


_STEP = case(
    (file.status != FileStatus.PROCESSING, None),
    (upload.state == TODO, FileStep.WAITING),
    (file.staged & upload.preparing, FileStep.PREPARING_MODEL),
    (file.staged, FileStep.EMBEDDING),
    else_=FileStep.READING,
)
_STATE = (
    *columns_of(
        kb_file,
        "id kb_id file_hash file_name size mime_type uploaded_by created_at updated_at"
        " status progress error chunk_count warnings",
    ),
    _STEP,
    null(),
    upload.id,
)


async def queue_positions(database: Database, upload_ids: Sequence[int]) -> Mapping[int, int]:
    """The places of those uploads that wait, among all that do, from 1."""
    return dict(await database.fetch(SQL["queue_of_uploads"], (upload_ids,))) if upload_ids else {}


HELD_BACK = timedelta(seconds=5)
"""An upload that lost a file is leased again only when its worker has noticed that it lost its lease."""
WINDOW = 2000
"""Chunks whose words are counted at a time."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A file as it is found before it is changed. `words_until`: up to which chunk of its base the words of an older
    version have been brought up to date."""

    words_until: int
    id: int
    status: FileStatus
    name: str
    blob_key: str
    upload_id: int | None
    chunks: int
    size: int


class PostgresFiles:
    """`ports.knowledge_storage.KnowledgeFileStore`."""

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
        columns = select(*FILE, _WAITING, access.level)
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
        joined = joined.outerjoin(kb_access, granted(file.kb_id, user_id))
        chunks = select(*CHUNK, access.level).select_from(joined)
        row = await self._database.fetch_one(chunks.where(chunk.c.chunk_id == storable(chunk_id)).limit(1))
        return (Chunk(*row[:-1]), Level(row[-1] or 0)) if row else None

    async def chunks(self, record: FileRecord, limit: int, offset: int) -> tuple[Sequence[Chunk], int]:
        count = select(case((file.status == "ready", file.chunk_count), else_=0)).where(file.id == record.id)
        of_file = (file.id == record.id, chunk.c.kb_id == record.base_id, chunk.c.file_id == record.id)
        window = select(*CHUNK).where(*of_file).order_by(chunk.c.position).limit(limit).offset(offset)
        total = await self._database.fetch_value(count)
        return [Chunk(*row) for row in await self._database.fetch(window)], total or 0

    async def states(self, base_id: int, limit: int, before: int, name: str) -> Sequence[FileState]:
        conditions = [file.kb_id == base_id, *([file.id < before] if before else []), *named(name)]
        return await self._found(_states(*conditions).order_by(file.id.desc()).limit(limit))

    async def state(self, base_id: int, file_hash: str) -> FileState | None:
        states = await self._found(_states(file.kb_id == base_id, file.file_hash == file_hash))
        return states[0] if states else None

    async def _found(self, states: Select[Any]) -> Sequence[FileState]:
        rows = await self._database.fetch(states)
        files: list[tuple[FileState, Any]] = []
        for *columns, upload_id in rows:
            state = FileState(*columns)
            step = state.step and FileStep(state.step)
            status, warnings = FileStatus(state.status), tuple(state.warnings)
            files.append((replace(state, status=status, step=step, warnings=warnings), upload_id))
        waiting = [upload_id for state, upload_id in files if state.step is FileStep.WAITING]
        places = await queue_positions(self._database, waiting)
        return [
            replace(state, queue_position=places.get(upload_id)) if state.step is FileStep.WAITING else state
            for state, upload_id in files
        ]

    async def places(self, record: FileState, limit: int, offset: int) -> Sequence[ChunkPlace]:
        of_file = (chunk.c.kb_id == record.base_id, chunk.c.file_id == record.id)
        places = select(chunk.c.chunk_id, chunk.c.position, chunk.c.metadata).where(*of_file)
        window = places.order_by(chunk.c.position).limit(limit).offset(offset)
        chunks: list[ChunkPlace] = []
        for chunk_id, position, metadata in await self._database.fetch(window):
            where = json.loads(metadata) if metadata else {}
            chunks.append(ChunkPlace(chunk_id, position, where.get("start"), where.get("end"), metadata))
        return chunks

    async def text_of(self, record: FileState, start: int, length: int) -> tuple[str, int]:
        stretch = func.substring(file.text, start + 1, length), func.char_length(file.text)
        row = await self._database.fetch_one(select(*stretch).where(file.id == record.id))
        return (row[0], row[1]) if row else ("", 0)

    @retried
    async def retry(self, base_id: int, file_hash: str, user_id: str) -> FileStatus | None:
        begun = insert(kb_upload).values(kb_id=base_id, user_id=user_id, respond_async=True)
        anew = {"status": FileStatus.PROCESSING, "progress": 0, "error": None, "staged": False}
        async with self._database.transaction() as connection:
            stored = await self._locked(connection, base_id, file_hash)
            if stored is None:
                return None
            if stored.status is not FileStatus.FAILED:
                return stored.status
            row = await (await connection.run(begun.values(size=stored.size).returning(upload.id))).fetchone()
            assert row is not None
            again = update(kb_file).filter_by(id=stored.id).values(upload_id=row[0], **anew)
            await connection.run(again.values(updated_at=func.clock_timestamp()))
        return stored.status

    @retried
    async def remove(self, base_id: int, file_hash: str) -> Sequence[str] | None:
        columns = (file.id, file.status, knowledge_base.c.old_words_from)
        statement = (
            select(*columns).join(knowledge_base).where(file.kb_id == base_id, file.file_hash == file_hash)
        )
        row = await self._database.fetch_one(statement)
        if row is None:
            return None
        words = await self._words(base_id, row[0]) if row[1] == FileStatus.READY else None
        async with self._database.transaction() as connection:
            stored = await self._locked(connection, base_id, file_hash)
            if stored is None:
                return None
            if stored.status is FileStatus.READY:
                counted = words if (stored.id, stored.words_until) == (row[0], row[2]) else None
                await self._forget_chunks(connection, base_id, stored, counted)
            elif stored.upload_id is not None and stored.status is FileStatus.PROCESSING:
                return await self._cancel(connection, stored, stored.upload_id)
            await connection.run(delete(kb_file).filter_by(id=stored.id))
        return [stored.blob_key]

    async def _locked(self, connection: Connection, base_id: int, file_hash: str) -> _Stored | None:
        """The file, locked behind its base and its upload: in the order of those who publish."""
        base = select(knowledge_base.c.old_words_from).filter_by(id=base_id).with_for_update()
        base_row = await (await connection.run(base)).fetchone()
        if base_row is None:
            return None
        names = "id status file_name blob_key upload_id chunk_count size"
        columns = columns_of(kb_file, names)
        statement = select(*columns).filter_by(kb_id=base_id, file_hash=file_hash)
        row = await (await connection.run(statement)).fetchone()
        if row is None:
            return None
        if row[4] is not None:
            own = select(upload.id).filter_by(id=row[4]).with_for_update(key_share=True)
            await connection.run(own)
        row = await (await connection.run(statement.with_for_update())).fetchone()
        return _Stored(base_row[0], row[0], FileStatus(row[1]), *row[2:]) if row else None

    async def _words(self, base_id: int, file_id: int) -> Counter[str]:
        """In how many chunks of the file each word stands, as they were indexed."""
        counted: Counter[str] = Counter()
        after = -1
        indexed = and_(chunk_index.c.kb_id == chunk.c.kb_id, chunk_index.c.seq == chunk.c.seq)
        while True:
            columns = chunk.c.position, chunk.c.context, chunk.c.text, chunk_index.c.terms
            of_file = chunk.c.kb_id == base_id, chunk.c.file_id == file_id, chunk.c.position > after
            following = select(*columns).join(chunk_index, indexed).where(*of_file)
            rows = await self._database.fetch(following.order_by(chunk.c.position).limit(WINDOW))
            if not rows:
                return counted
            after = rows[-1][0]
            await asyncio.to_thread(_count, counted, base_id, rows)

    async def _forget_chunks(
        self, connection: Connection, base_id: int, stored: _Stored, words: Counter[str] | None
    ) -> None:
        if words is None:  # it became ready a moment ago
            words = await self._words(base_id, stored.id)
        terms = sorted(words)
        parameters = {
            "base": base_id,
            "file": stored.id,
            "words": terms,
            "counts": [words[term] for term in terms],
            "chunks": stored.chunks,
        }
        for name in ("forget_index", "forget_chunks", "forget_counts", "forget_words", "forget_count"):
            await connection.execute(SQL[name], parameters, prepare=False)

    async def _cancel(self, connection: Connection, stored: _Stored, upload_id: int) -> Sequence[str]:
        """Ends all of the upload where the uploader waits, or nothing else is left; else it goes on without it."""
        own_upload = update(kb_upload).filter_by(id=upload_id).where(upload.state < FAILED)
        others = select(func.count()).select_from(kb_file).where(file.upload_id == upload_id)
        waits = select(~upload.respond_async, others.scalar_subquery()).filter_by(id=upload_id)
        row = await (await connection.run(waits)).fetchone()
        if row is not None and (row[0] or row[1] == 1):
            failure = cancelled(stored.name)
            await log_upload(connection, EventKind.UPLOAD_FAILED, upload_id, failure.message)
            reason = {"failure_reason": failure.reason, "failure_message": storable(failure.message)}
            await connection.run(own_upload.values(state=FAILED, owner=None, ended_at=func.now(), **reason))
            for table in (kb_piece, kb_text):
                await connection.run(delete(table).filter_by(upload_id=upload_id))
            gone = delete(kb_file).filter_by(upload_id=upload_id)
        else:
            again = {"state": TODO, "owner": None, "due_at": func.now() + HELD_BACK}
            begun = own_upload.where(upload.state == WORKING)
            await connection.run(begun.values(**again, attempts=func.greatest(0, upload.attempts - 1)))
            gone = delete(kb_file).filter_by(id=stored.id)
        blobs = await (await connection.run(gone.returning(file.blob_key))).fetchall()
        return [key for (key,) in blobs]


def _first(columns: Select[Any], file_hash: str, user_id: str, *, readable: bool) -> Select[Any]:
    """The record of that hash: the user's own, else one that the user may READ, else any."""
    may_read = access.level.is_not(None)
    return (
        columns.select_from(kb_file.outerjoin(kb_access, granted(file.kb_id, user_id)))
        .where(file.file_hash == storable(file_hash), *([may_read] if readable else []))
        .order_by((file.uploaded_by == user_id).desc(), may_read.desc())
        .order_by((file.status == "ready").desc(), file.id)
        .limit(1)
    )


def named(name: str) -> Sequence[ColumnElement[bool]]:
    """The condition that the name of a file holds this, in any case."""
    return [file.file_name.icontains(name, autoescape=True)] if name else []


def _states(*conditions: ColumnElement[bool]) -> Select[Any]:
    joined = kb_file.outerjoin(kb_upload, upload.id == file.upload_id)
    return select(*_STATE).select_from(joined).where(*conditions)


def _count(words: Counter[str], base_id: int, rows: Sequence[tuple[int, str, str, Sequence[int]]]) -> None:
    for _, context, content, terms in rows:
        words.update(indexed_words(base_id, f"{context}\n{content}" if context else content, terms))
