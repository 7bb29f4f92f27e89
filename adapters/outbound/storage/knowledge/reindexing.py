"""Chunks that another model has embedded, and how much of what is stored belongs to nothing."""

from collections.abc import Sequence
from typing import Any

from pgvector import HalfVector
from sqlalchemy import select

from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.knowledge.tables import knowledge_base
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from ports.indexing import Vector
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
SELECT 'files of sources that no page has', count(*) FROM kb_file f WHERE f.synced
AND NOT EXISTS (SELECT FROM kb_source_page p WHERE p.file_id = f.id)
AND NOT EXISTS (SELECT FROM kb_source_page p WHERE p.next_file_id = f.id)
AND NOT EXISTS (SELECT FROM kb_unused_file u WHERE u.file_id = f.id)
UNION ALL
SELECT 'files without bytes on record', count(*) FROM kb_file f
WHERE NOT EXISTS (SELECT FROM blob b WHERE b.key = f.blob_key)
"""


CHANGE_SECONDS = 3600.0
"""For the vectors of a million chunks."""
LEASE = """
INSERT INTO chosen_model (kind, name, precision, owner, due_at)
VALUES ('reindexing', %(model)s, '', %(owner)s, now() + interval '60 seconds')
ON CONFLICT (kind) DO UPDATE SET name = excluded.name, owner = excluded.owner, due_at = excluded.due_at
WHERE chosen_model.owner = excluded.owner OR chosen_model.due_at < now() RETURNING kind
"""
UNUSED = """
DELETE FROM chunk_vector v WHERE v.model <> %(model)s OR NOT EXISTS (
    SELECT FROM knowledge_base b WHERE b.id = v.kb_id AND b.model <> v.model
)
"""
PROGRESS = """
SELECT (SELECT count(*) FROM chunk_vector WHERE model = %(model)s),
    coalesce(sum(chunk_count), 0)::int8 FROM knowledge_base WHERE model <> %(model)s
"""
MISSING = """
i.kb_id = %(base)s AND i.model <> %(model)s AND i.seq > %(after)s AND NOT EXISTS (
    SELECT FROM chunk_vector v WHERE v.kb_id = %(base)s AND v.seq = i.seq AND v.model = %(model)s
)
"""
NEXT = f"""
SELECT i.kb_id, i.seq, CASE c.context WHEN '' THEN c.text ELSE c.context || E'\\n' || c.text END
FROM chunk_index i JOIN chunk c ON c.kb_id = %(base)s AND c.seq = i.seq WHERE {MISSING}
ORDER BY i.seq LIMIT %(limit)s
"""
KEEP = """
INSERT INTO chunk_vector (kb_id, seq, model, embedding)
SELECT kb_id, seq, %s, embedding FROM unnest(%s::int4[], %s::int8[], %b::halfvec[]) v(kb_id, seq, embedding)
ON CONFLICT (kb_id, seq) DO UPDATE SET model = excluded.model, embedding = excluded.embedding
"""
CHANGE_OVER = (
    """
    UPDATE chunk_index i SET model = v.model, embedding = v.embedding FROM chunk_vector v
    WHERE i.kb_id = %(base)s AND v.kb_id = %(base)s AND v.seq = i.seq AND v.model = %(model)s
    """,
    "DELETE FROM chunk_vector WHERE kb_id = %(base)s",
    "UPDATE knowledge_base SET model = %(model)s WHERE id = %(base)s",
)


class PostgresReindexing:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease(self, owner: int, fingerprint: str) -> bool:
        return bool(await self._database.fetch(LEASE, {"owner": owner, "model": fingerprint}))

    async def drop_unused(self, fingerprint: str) -> None:
        model = await model_number(self._database, fingerprint)
        await self._database.execute(UNUSED, {"model": model}, within=BULK_SECONDS)

    async def other_bases(self, fingerprint: str) -> Sequence[int]:
        model = await model_number(self._database, fingerprint)
        others = select(knowledge_base.c.id).where(knowledge_base.c.model != model)
        return await self._database.fetch_column(others.order_by(knowledge_base.c.id))

    async def progress(self, fingerprint: str) -> tuple[int, int]:
        model = await model_number(self._database, fingerprint)
        [(done, total)] = await self._database.fetch(PROGRESS, {"model": model}, within=BULK_SECONDS)
        return int(done), int(total)

    async def next_other(
        self, base_id: int, fingerprint: str, after: int, limit: int
    ) -> Sequence[OtherChunk]:
        model = await model_number(self._database, fingerprint)
        parameters = {"base": base_id, "model": model, "after": after, "limit": limit}
        return [OtherChunk(*row) for row in await self._database.fetch(NEXT, parameters, within=BULK_SECONDS)]

    async def keep(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
        model = await model_number(self._database, fingerprint)
        bases, numbers = [chunk.base_id for chunk, _ in vectors], [chunk.seq for chunk, _ in vectors]
        packed = [HalfVector(list(vector)) for _, vector in vectors]
        await self._database.execute(KEEP, (model, bases, numbers, packed))

    async def change_over(self, base_id: int, fingerprint: str) -> bool:
        """Locks out uploads that would publish meanwhile; searches go on."""
        model = await model_number(self._database, fingerprint)
        parameters = {"base": base_id, "model": model, "after": 0}
        base = select(knowledge_base.c.id).filter_by(id=base_id).with_for_update(key_share=True)
        async with self._database.transaction(within=CHANGE_SECONDS) as connection:
            if await (await connection.run(base)).fetchone() is None:
                return True
            missing = await connection.execute(
                f"SELECT FROM chunk_index i WHERE {MISSING} LIMIT 1", parameters
            )
            if await missing.fetchone() is not None:
                return False
            for statement in CHANGE_OVER:
                await connection.execute(statement, parameters, prepare=False)
        return True

    async def orphans(self) -> dict[str, int]:
        """What is stored and belongs to nothing, by kind: all of it should be 0."""
        found: list[Any] = await self._database.fetch(ORPHANS, within=BULK_SECONDS)
        return dict(found)
