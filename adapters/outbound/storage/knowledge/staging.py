"""Pieces of uploads: staged by COPY, embedded, published as chunks in one transaction."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from struct import Struct

from pgvector import HalfVector
from psycopg import Rollback
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.copying import copy_rows, packed_row
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import (
    SQL,
    embedding_model,
    kb_file,
    kb_piece,
    kb_text,
    kb_upload,
    knowledge_base,
)
from adapters.outbound.storage.knowledge.uploads import DONE, WORKING, leased, log_upload
from adapters.outbound.storage.knowledge.word_index import packed_lex, packed_terms, term_hash
from adapters.outbound.storage.pool import BULK_SECONDS, Connection, Database
from domain.events import EventKind
from domain.knowledge.model import Piece
from ports.indexing import Vector
from ports.knowledge_storage import StagedPiece, Work

PIECES = "kb_piece (file_id, position, upload_id, chunk_id, text, context, metadata, words, terms, lex)"
ROWS = 256
"""Rows are made in a thread, so many at a time."""
READ = 0.2
"""The share of a file's progress that reading it makes; embedding is the rest."""

_INT, _BIGINT = Struct(">i").pack, Struct(">q").pack


class PostgresStaging:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def reading(self, work: Work, file_id: int, share: float) -> None:
        unread = update(kb_file).filter_by(id=file_id, upload_id=work.upload_id, staged=False)
        await self._database.execute(unread.values(progress=READ * min(1.0, max(0.0, share))))

    @retried
    async def begin(self, work: Work, file_id: int) -> None:
        anew = update(kb_file).filter_by(id=file_id, upload_id=work.upload_id)
        async with self._database.transaction() as connection:
            await connection.run(anew.values(staged=False, embedded=0, chunk_count=0, progress=0))
            for table in (kb_piece, kb_text):
                await connection.run(delete(table).filter_by(file_id=file_id))

    @retried
    async def stage(
        self, work: Work, file_id: int, start: int, text: str, pieces: Sequence[tuple[str, Piece]]
    ) -> bool:
        stretch = {"file_id": file_id, "start": start, "upload_id": work.upload_id, "text": storable(text)}
        own = select(kb_file.c.id).filter_by(id=file_id, upload_id=work.upload_id).with_for_update(read=True)
        held = select(kb_upload.c.id).filter_by(id=work.upload_id, state=WORKING, attempts=work.attempts)
        async with self._database.transaction() as connection:
            for condition in (own, held):
                if await (await connection.run(condition)).fetchone() is None:
                    return False
            if text:
                await connection.run(insert(kb_text).values(stretch))
            for first in range(0, len(pieces), ROWS):
                rows = await asyncio.to_thread(_rows, work, file_id, pieces[first : first + ROWS])
                await copy_rows(connection, PIECES, rows)
        return True

    @retried
    async def finish(self, work: Work, file_id: int, mime_type: str, warnings: Sequence[str] = ()) -> None:
        named = [storable(warning) for warning in warnings]
        async with self._database.transaction() as connection:
            parameters = {
                "file": file_id,
                "upload": work.upload_id,
                "mime_type": mime_type,
                "warnings": named,
            }
            await connection.execute(SQL["finish_file"], parameters)
            await connection.run(delete(kb_text).filter_by(file_id=file_id))

    async def model_of(self, base_id: int) -> str | None:
        return await base_model(self._database, base_id)

    async def unembedded(
        self, upload_id: int, fingerprint: str, limit: int, after: int = 0
    ) -> Sequence[StagedPiece]:
        model = await model_number(self._database, fingerprint)
        rows = await self._database.fetch(SQL["unembedded_pieces"], (upload_id, after, model, limit))
        return [StagedPiece(*row) for row in rows]

    @retried
    async def embedded(
        self, upload_id: int, fingerprint: str, vectors: Sequence[tuple[StagedPiece, Vector]]
    ) -> None:
        model = await model_number(self._database, fingerprint)
        files = [piece.file_id for piece, _ in vectors]
        positions = [piece.position for piece, _ in vectors]
        import numpy  # 10 MB, with the first vector

        packed = [HalfVector(numpy.asarray(vector, numpy.float32)) for _, vector in vectors]
        async with self._database.transaction() as connection:
            await connection.execute(SQL["store_vectors"], (model, files, positions, packed, upload_id))

    @retried
    async def publish(self, work: Work, owner: int, fingerprint: str, base_model: str | None) -> bool:
        model = await model_number(self._database, fingerprint)
        expected = base_model and await model_number(self._database, base_model)
        parameters = {"upload": work.upload_id, "base": work.base_id, "model": model, "base_model": expected}
        held = select(kb_upload.c.id).filter_by(id=work.upload_id, owner=owner, state=WORKING)
        published = False
        async with self._database.transaction() as connection:
            if await (await connection.run(held)).fetchone() is not None:
                for name in ("publish_chunks", "publish_index", "clean_terms_of_chunks"):
                    await connection.execute(SQL[name], parameters, prepare=False)
                published = await self._end(connection, work, owner, parameters)
            if not published:
                raise Rollback
        if published:
            await self._database.execute(
                SQL["delete_published_pieces"], (work.upload_id,), within=BULK_SECONDS
            )
        return published

    async def _end(
        self, connection: Connection, work: Work, owner: int, parameters: Mapping[str, object]
    ) -> bool:
        """What concerns others: the lease is renewed until here, and other uploads go on. False: it is lost."""
        same = knowledge_base.c.model.is_not_distinct_from(parameters["base_model"])
        base = select(knowledge_base.c.id).filter_by(id=work.base_id).where(same)
        ended = leased(work.upload_id, owner).values(state=DONE, owner=None, ended_at=func.now())
        base_row = await (await connection.run(base.with_for_update(key_share=True))).fetchone()
        if base_row is None or not (await connection.run(ended)).rowcount:
            return False
        await log_upload(connection, EventKind.UPLOAD_READY, work.upload_id)
        for name in ("publish_words", "clean_words", "publish_base", "publish_files"):
            await connection.execute(SQL[name], parameters, prepare=False)
        return True


def _rows(work: Work, file_id: int, pieces: Sequence[tuple[str, Piece]]) -> list[bytes]:
    rows: list[bytes] = []
    for chunk_id, piece in pieces:
        hashes = sorted({term_hash(work.base_id, word) for word in piece.words})
        where = json.dumps(piece.metadata, ensure_ascii=False)
        texts = (chunk_id, piece.text, piece.context, where, " ".join(piece.words))
        ids = (_BIGINT(file_id), _INT(piece.position), _BIGINT(work.upload_id))
        packed = (storable(text).encode() for text in texts)
        rows.append(packed_row(*ids, *packed, packed_terms(hashes), packed_lex(hashes)))
    return rows


async def model_number(database: Database, fingerprint: str) -> int:
    """The number under which a model's vectors are stored; a new one for a new model."""
    number = "SELECT id FROM embedding_model WHERE fingerprint = %s", (fingerprint,)
    if row := await database.fetch_one(*number):
        return int(row[0])
    await database.execute(insert(embedding_model).values(fingerprint=fingerprint).on_conflict_do_nothing())
    return int(await database.fetch_value(*number))


async def base_model(database: Database, base_id: int) -> str | None:
    """The fingerprint of the model whose vectors a base is searched by. Indexes: the primary keys."""
    named = knowledge_base.join(embedding_model, embedding_model.c.id == knowledge_base.c.model)
    statement = select(embedding_model.c.fingerprint).select_from(named).where(knowledge_base.c.id == base_id)
    row = await database.fetch_one(statement)
    return str(row[0]) if row else None
