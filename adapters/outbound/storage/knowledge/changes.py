"""Deleting and retrying files of a base in PostgreSQL."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.rows import file
from adapters.outbound.storage.knowledge.tables import (
    chunk,
    chunk_index,
    kb_file,
    kb_piece,
    kb_text,
    kb_upload,
    knowledge_base,
)
from adapters.outbound.storage.knowledge.upload_events import log_upload
from adapters.outbound.storage.knowledge.uploads import FAILED, TODO, WORKING, upload
from adapters.outbound.storage.knowledge.word_index import indexed_words
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.schema import columns_of
from domain.events import EventKind
from domain.knowledge.ingest import cancelled
from domain.knowledge.model import FileStatus
from ports.knowledge_storage import Failure

HELD_BACK = timedelta(seconds=5)
"""An upload that lost a file is leased again only when its worker has noticed that it lost its lease."""
WINDOW = 2000
"""Chunks whose words are counted at a time."""

FORGET_CHUNKS = (
    """
    DELETE FROM chunk_index WHERE kb_id = %(base)s
    AND seq IN (SELECT seq FROM chunk WHERE kb_id = %(base)s AND file_id = %(file)s)
    """,
    "DELETE FROM chunk WHERE kb_id = %(base)s AND file_id = %(file)s",
    """
    UPDATE kb_term t SET df = t.df - n FROM unnest(%(words)s::text[], %(counts)s::int4[]) w(word, n)
    WHERE t.kb_id = %(base)s AND t.term = w.word
    """,
    "DELETE FROM kb_term WHERE kb_id = %(base)s AND term = ANY(%(words)s::text[]) AND df <= 0",
    "UPDATE knowledge_base SET chunk_count = greatest(0, chunk_count - %(chunks)s) WHERE id = %(base)s",
)
"""Indexes: the primary keys, and `chunk_by_file`."""


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


class PostgresFileChanges:
    def __init__(self, database: Database) -> None:
        self._database = database

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
        found = (
            select(*columns).join(knowledge_base).where(file.kb_id == base_id, file.file_hash == file_hash)
        )
        row = await self._database.fetch_one(found)
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
        found = select(*columns).filter_by(kb_id=base_id, file_hash=file_hash)
        row = await (await connection.run(found)).fetchone()
        if row is None:
            return None
        if row[4] is not None:
            own = select(upload.id).filter_by(id=row[4]).with_for_update(key_share=True)
            await connection.run(own)
        row = await (await connection.run(found.with_for_update())).fetchone()
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
        for statement in FORGET_CHUNKS:
            await connection.execute(statement, parameters, prepare=False)

    async def _cancel(self, connection: Connection, stored: _Stored, upload_id: int) -> Sequence[str]:
        """Ends all of the upload where the uploader waits, or nothing else is left; else it goes on without it."""
        one = update(kb_upload).filter_by(id=upload_id).where(upload.state < FAILED)
        others = select(func.count()).select_from(kb_file).where(file.upload_id == upload_id)
        waits = select(~upload.respond_async, others.scalar_subquery()).filter_by(id=upload_id)
        row = await (await connection.run(waits)).fetchone()
        if row is not None and (row[0] or row[1] == 1):
            failure = cancelled(stored.name)
            await log_upload(connection, EventKind.UPLOAD_FAILED, upload_id, failure.message)
            await connection.run(
                one.values(state=FAILED, owner=None, ended_at=func.now(), **_reason(failure))
            )
            for table in (kb_piece, kb_text):
                await connection.run(delete(table).filter_by(upload_id=upload_id))
            gone = delete(kb_file).filter_by(upload_id=upload_id)
        else:
            again = {"state": TODO, "owner": None, "due_at": func.now() + HELD_BACK}
            begun = one.where(upload.state == WORKING)
            await connection.run(begun.values(**again, attempts=func.greatest(0, upload.attempts - 1)))
            gone = delete(kb_file).filter_by(id=stored.id)
        blobs = await (await connection.run(gone.returning(file.blob_key))).fetchall()
        return [key for (key,) in blobs]


def _reason(failure: Failure) -> dict[str, str]:
    return {"failure_reason": failure.reason, "failure_message": storable(failure.message)}


def _count(words: Counter[str], base_id: int, rows: Sequence[tuple[int, str, str, Sequence[int]]]) -> None:
    for _, context, text, terms in rows:
        words.update(indexed_words(base_id, f"{context}\n{text}" if context else text, terms))
