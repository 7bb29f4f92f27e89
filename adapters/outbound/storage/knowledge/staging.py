"""The pieces of uploads under way: staged by COPY, given vectors, published as chunks in one transaction."""

import asyncio
import json
from collections.abc import Sequence

from pgvector import HalfVector
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import embedding_model, kb_file, kb_piece, knowledge_base
from adapters.outbound.storage.knowledge.terms import lex_of_terms, term_hash
from adapters.outbound.storage.knowledge.upload_events import log_upload
from adapters.outbound.storage.knowledge.uploads import DONE, leased
from adapters.outbound.storage.pool import Connection, Database
from domain.events.model import EventKind
from domain.knowledge.model import Piece
from domain.knowledge.words import index_words
from ports.embedding import Vector
from ports.knowledge_storage import StagedPiece, Work

COPY_PIECES = """
COPY kb_piece (file_id, position, upload_id, chunk_id, text, context, metadata, words, terms, lex) FROM STDIN
"""
UNEMBEDDED = """
SELECT p.file_id, p.position, CASE p.context WHEN '' THEN p.text ELSE p.context || E'\\n' || p.text END
FROM kb_piece p WHERE p.upload_id = %s AND NOT EXISTS (
    SELECT FROM kb_piece_vector v WHERE v.file_id = p.file_id AND v.position = p.position
) ORDER BY p.file_id, p.position LIMIT %s
"""
READ = 0.2
"""The share of a file's progress that reading it makes; embedding is the rest."""
PROGRESS = f"""
UPDATE kb_file f SET progress = {READ} + {1 - READ} * (
    SELECT count(*) FROM kb_piece_vector v WHERE v.file_id = f.id
) / greatest(1, f.chunk_count) WHERE id = ANY(%s)
"""
# Chunks, their index and the vocabulary come from the staged pieces inside the server.
PUBLISH = (
    """
    CREATE TEMP TABLE publishing ON COMMIT DROP AS
    SELECT p.*, v.embedding, nextval('chunk_seq') AS seq FROM (
        SELECT * FROM kb_piece WHERE upload_id = %(upload)s ORDER BY file_id, position
    ) p JOIN kb_piece_vector v ON v.file_id = p.file_id AND v.position = p.position
    """,
    """
    INSERT INTO chunk (kb_id, seq, chunk_id, file_id, position, text, context, metadata)
    SELECT %(base)s, seq, chunk_id, file_id, position, text, context, metadata FROM publishing ORDER BY seq
    """,
    """
    INSERT INTO chunk_index (kb_id, seq, model, terms, lex, embedding)
    SELECT %(base)s, seq, %(model)s, terms, lex, embedding FROM publishing ORDER BY seq
    """,
    """
    INSERT INTO kb_term AS t (kb_id, term, df)
    SELECT %(base)s, word, count(*) FROM publishing, unnest(words) word GROUP BY word ORDER BY word
    ON CONFLICT (kb_id, term) DO UPDATE SET df = t.df + excluded.df
    """,
    """
    UPDATE kb_file SET status = 'ready', progress = 1, updated_at = clock_timestamp(), upload_id = NULL
    WHERE upload_id = %(upload)s
    """,
    """
    UPDATE knowledge_base SET chunk_count = chunk_count + (SELECT count(*) FROM publishing)
    WHERE id = %(base)s
    """,
    "DELETE FROM kb_piece WHERE upload_id = %(upload)s",
)


class PostgresStaging:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def reading(self, work: Work, file_id: int, share: float) -> None:
        unread = update(kb_file).filter_by(id=file_id, upload_id=work.upload_id, staged=False)
        await self._database.execute(unread.values(progress=READ * min(1.0, max(0.0, share))))

    @retried
    async def stage(
        self, work: Work, file_id: int, text: str, mime_type: str, pieces: Sequence[tuple[str, Piece]]
    ) -> None:
        columns = {"text": storable(text), "mime_type": mime_type, "chunk_count": len(pieces)}
        staged = update(kb_file).filter_by(id=file_id, upload_id=work.upload_id)
        async with self._database.transaction() as connection:
            await connection.run(delete(kb_piece).filter_by(file_id=file_id))
            touched = await connection.run(staged.values(**columns, staged=True, progress=READ))
            if touched.rowcount:
                await self._copy(connection, work, file_id, pieces)

    async def _copy(
        self, connection: Connection, work: Work, file_id: int, pieces: Sequence[tuple[str, Piece]]
    ) -> None:
        async with connection.cursor() as cursor, cursor.copy(COPY_PIECES) as copy:
            for start in range(0, len(pieces), 64):
                some = pieces[start : start + 64]
                for row in await asyncio.to_thread(_rows, work, file_id, some):
                    await copy.write_row(row)

    async def unembedded(self, upload_id: int, limit: int) -> Sequence[StagedPiece]:
        rows = await self._database.fetch(UNEMBEDDED, (upload_id, limit))
        return [StagedPiece(*row) for row in rows]

    @retried
    async def embedded(self, upload_id: int, vectors: Sequence[tuple[StagedPiece, Vector]]) -> None:
        async with self._database.transaction() as connection:
            # The rows may be gone (base deleted, lease lost): those are passed over.
            await connection.execute(
                "INSERT INTO kb_piece_vector (file_id, position, embedding)"
                " SELECT p.file_id, p.position, v.embedding"
                " FROM unnest(%s::int8[], %s::int4[], %s::halfvec[]) v(file_id, position, embedding)"
                " JOIN kb_piece p ON p.file_id = v.file_id AND p.position = v.position AND p.upload_id = %s"
                " ON CONFLICT DO NOTHING",
                (
                    [piece.file_id for piece, _ in vectors],
                    [piece.position for piece, _ in vectors],
                    [HalfVector(list(vector)) for _, vector in vectors],
                    upload_id,
                ),
            )
            await connection.execute(PROGRESS, (list({piece.file_id for piece, _ in vectors}),))

    @retried
    async def publish(self, work: Work, owner: int, fingerprint: str) -> bool:
        model = await model_number(self._database, fingerprint)
        parameters = {"upload": work.upload_id, "base": work.base_id, "model": model}
        async with self._database.transaction() as connection:
            base = select(knowledge_base.c.id).filter_by(id=work.base_id).with_for_update()
            if await (await connection.run(base)).fetchone() is None:
                return False
            ended = leased(work.upload_id, owner).values(state=DONE, owner=None, ended_at=func.now())
            if not (await connection.run(ended)).rowcount:
                return False
            await log_upload(connection, EventKind.UPLOAD_READY, work.upload_id)
            for statement in PUBLISH:
                await connection.execute(statement, parameters, prepare=False)
        return True


def _rows(work: Work, file_id: int, pieces: Sequence[tuple[str, Piece]]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for chunk_id, piece in pieces:
        words = sorted(index_words(storable(piece.searchable)))
        terms = sorted({term_hash(work.base_id, word) for word in words})
        where = json.dumps(piece.metadata, ensure_ascii=False)
        texts = (storable(piece.text), storable(piece.context), storable(where))
        rows.append(
            (file_id, piece.position, work.upload_id, chunk_id, *texts, words, terms, lex_of_terms(terms))
        )
    return rows


async def model_number(database: Database, fingerprint: str) -> int:
    """The number under which a model's vectors are stored; a new one for a new model."""
    await database.execute(insert(embedding_model).values(fingerprint=fingerprint).on_conflict_do_nothing())
    return int(await database.fetch_value(select(embedding_model.c.id).filter_by(fingerprint=fingerprint)))
