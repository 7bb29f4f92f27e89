"""Chunks that another model has embedded, and how much of what is stored belongs to nothing."""

from collections.abc import Sequence
from typing import Any

from pgvector import HalfVector
from sqlalchemy import and_, case, func, select, tuple_

from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.knowledge.tables import chunk, chunk_index
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from ports.embedding import Vector
from ports.knowledge_storage import OtherChunk

ORPHANS = """
SELECT 'chunks without a file', count(*) FROM chunk c
WHERE NOT EXISTS (SELECT FROM kb_file f WHERE f.id = c.file_id)
UNION ALL
SELECT 'index entries without a chunk', count(*) FROM chunk_index i
WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.kb_id = i.kb_id AND c.seq = i.seq)
UNION ALL
SELECT 'chunks without an index entry', count(*) FROM chunk c
WHERE NOT EXISTS (SELECT FROM chunk_index i WHERE i.kb_id = c.kb_id AND i.seq = c.seq)
UNION ALL
SELECT 'words of deleted bases', count(*) FROM kb_term t
WHERE NOT EXISTS (SELECT FROM knowledge_base b WHERE b.id = t.kb_id)
UNION ALL
SELECT 'files without bytes on record', count(*) FROM kb_file f
WHERE NOT EXISTS (SELECT FROM blob b WHERE b.key = f.blob_key)
"""


class PostgresReindexing:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def count_other(self, fingerprint: str) -> int:
        model = await model_number(self._database, fingerprint)
        other = select(func.count()).select_from(chunk_index).where(chunk_index.c.model != model)
        [(count,)] = await self._database.fetch(other, within=BULK_SECONDS)
        return int(count)

    async def next_other(self, fingerprint: str, after: tuple[int, int], limit: int) -> Sequence[OtherChunk]:
        model = await model_number(self._database, fingerprint)
        index = chunk_index.c
        text = case((chunk.c.context == "", chunk.c.text), else_=chunk.c.context + "\n" + chunk.c.text)
        joined = chunk_index.join(chunk, and_(chunk.c.kb_id == index.kb_id, chunk.c.seq == index.seq))
        others = select(index.kb_id, index.seq, text).select_from(joined).where(index.model != model)
        following = others.where(tuple_(index.kb_id, index.seq) > tuple_(*after))
        rows = await self._database.fetch(following.order_by(index.kb_id, index.seq).limit(limit))
        return [OtherChunk(*row) for row in rows]

    async def replace(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
        model = await model_number(self._database, fingerprint)
        await self._database.execute(
            "UPDATE chunk_index i SET model = %s, embedding = v.embedding"
            " FROM unnest(%s::int4[], %s::int8[], %s::halfvec[]) v(kb_id, seq, embedding)"
            " WHERE i.kb_id = v.kb_id AND i.seq = v.seq",
            (
                model,
                [chunk.base_id for chunk, _ in vectors],
                [chunk.seq for chunk, _ in vectors],
                [HalfVector(list(vector)) for _, vector in vectors],
            ),
        )

    async def orphans(self) -> dict[str, int]:
        """What is stored and belongs to nothing, by kind: all of it should be 0."""
        found: list[Any] = await self._database.fetch(ORPHANS, within=BULK_SECONDS)
        return dict(found)
