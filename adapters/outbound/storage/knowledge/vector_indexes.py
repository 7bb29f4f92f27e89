"""Vector indexes of large bases: one partial HNSW index for each base and model, kept by maintenance.

Small bases are searched exactly. One index over all bases with a filter on the base would find nothing for
small ones: the neighbours it visits belong to others.

Chunks that another model has embedded, and how much of what is stored belongs to nothing.
"""

import logging
import re
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg import sql
from sqlalchemy import select

from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.knowledge.tables import knowledge_base
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from adapters.outbound.storage.processes import MEGABYTE, part_of_memory
from ports.indexing import Vector
from ports.knowledge_storage import OtherChunk

log = logging.getLogger(__name__)

BUILD_OVER = 10_000
DROP_UNDER = 7_000
NEIGHBOURS, BUILD_WIDTH = 24, 128
"""Of the graph (m and ef_construction): with pgvector's 16 and 64, queries far from all clusters find less."""
BUILD_BYTES = 2_000
"""Memory that building takes for each vector: its halves, its neighbours, and what it costs to keep them."""

EXISTING = """
SELECT c.relname, i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relname LIKE 'hnsw\\_%%'
"""
LARGE = """
SELECT b.id, i.tableoid::regclass::text, i.model, b.chunk_count FROM knowledge_base b
CROSS JOIN LATERAL (SELECT tableoid, model FROM chunk_index WHERE kb_id = b.id ORDER BY seq DESC LIMIT 1) i
WHERE b.chunk_count > %s
"""


async def drop_indexes(database: Database, base_id: int) -> None:
    """Drops the indexes of a base: deleting its rows one by one from them would take far longer."""
    for name, _ in await database.fetch(EXISTING):
        match = re.fullmatch(r"hnsw_(\d+)_(\d+)", name)
        if match and int(match[1]) == base_id:
            await _drop(database, name)


class VectorIndexes:
    """Builds what is missing and drops what is not needed any more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def maintain(self) -> int:
        """One round; the number of indexes built or dropped. Safe beside other workers and live searches."""
        existing: dict[str, bool] = dict(await self._database.fetch(EXISTING))
        large = {
            index_name(base, model): (base, leaf, model, chunks)
            for base, leaf, model, chunks in await self._large(BUILD_OVER)
        }
        kept = {index_name(base, model) for base, _, model, _ in await self._large(DROP_UNDER)}
        changes = 0
        for name, valid in existing.items():
            if name not in kept or (not valid and not await self._building(name)):
                await _drop(self._database, name)
                changes += 1
                existing = {other: definition for other, definition in existing.items() if other != name}
        for name, (base, leaf, model, chunks) in large.items():
            if name not in existing:
                changes += await self._build(name, base, leaf, model, chunks)
        return changes

    async def _large(self, over: int) -> list[tuple[int, str, int, int]]:
        return [(row[0], row[1], row[2], row[3]) for row in await self._database.fetch(LARGE, (over,))]

    async def _building(self, name: str) -> bool:
        row = await self._database.fetch_one(
            "SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = to_regclass(%s))",
            (name,),
        )
        return bool(row and row[0])

    async def _build(self, name: str, base: int, leaf: str, model: int, chunks: int) -> int:
        statement = sql.SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON {} USING hnsw (embedding halfvec_cosine_ops)"
            " WITH (m = {}, ef_construction = {}) WHERE kb_id = {} AND model = {}"
        ).format(sql.Identifier(name), sql.Identifier(leaf), NEIGHBOURS, BUILD_WIDTH, base, model)
        # The whole graph fits, where the machine has the memory: beyond, building is many times slower.
        megabytes = part_of_memory(4, 64, max(64, chunks * BUILD_BYTES // MEGABYTE))
        started = time.monotonic()
        async with self._database.connection() as connection:
            await connection.execute(f"SET maintenance_work_mem = '{megabytes}MB'")
            try:
                await connection.execute(statement)
            except psycopg.errors.DuplicateTable:
                return 0  # another worker was faster
            finally:
                await connection.execute("RESET maintenance_work_mem")
        log.info(
            "vector index of base %s built over %s chunks in %.0f s", base, chunks, time.monotonic() - started
        )
        return 1


async def _drop(database: Database, name: str) -> None:
    async with database.connection() as connection:
        await connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def index_name(base: int, model: int) -> str:
    return f"hnsw_{base}_{model}"


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
        """Counts of rows that belong to nothing, by kind: all should be 0."""
        orphans: list[Any] = await self._database.fetch(ORPHANS, within=BULK_SECONDS)
        return dict(orphans)
