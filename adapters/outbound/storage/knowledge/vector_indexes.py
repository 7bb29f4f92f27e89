"""Vector indexes of large bases: one partial HNSW index for each base and model, kept by maintenance.

Small bases are searched exactly. One index over all bases with a filter on the base would find nothing for
small ones: the neighbours it visits belong to others.
"""

import logging
import re
import time

import psycopg
from psycopg import sql

from adapters.outbound.storage.machine import MEGABYTE, part_of_memory
from adapters.outbound.storage.pool import Database

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
        if _base_of(name) == base_id:
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
                existing = {other: each for other, each in existing.items() if other != name}
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
        started = time.monotonic()
        async with self._database.connection() as connection:
            await connection.execute(f"SET maintenance_work_mem = '{_build_memory(chunks)}MB'")
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


def _build_memory(chunks: int) -> int:
    """Megabytes in which the whole graph fits, where the machine has them: beyond, building is many times slower."""
    return part_of_memory(4, 64, max(64, chunks * BUILD_BYTES // MEGABYTE))


async def _drop(database: Database, name: str) -> None:
    async with database.connection() as connection:
        await connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def index_name(base: int, model: int) -> str:
    return f"hnsw_{base}_{model}"


def _base_of(name: str) -> int | None:
    found = re.fullmatch(r"hnsw_(\d+)_(\d+)", name)
    return int(found.group(1)) if found else None
