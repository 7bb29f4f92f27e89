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

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.knowledge.tables import SQL, knowledge_base
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


async def drop_indexes(database: Database, base_id: int) -> None:
    """Drops the indexes of a base: deleting its rows one by one from them would take far longer."""
    for name, _ in await database.fetch(SQL["vector_indexes"]):
        match = re.fullmatch(r"hnsw_(\d+)_(\d+)", name)
        if match and int(match[1]) == base_id:
            await _drop(database, name)


class VectorIndexes:
    """Builds what is missing and drops what is not needed any more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def maintain(self) -> int:
        """One round; the number of indexes built or dropped. Safe beside other workers and live searches."""
        existing: dict[str, bool] = dict(await self._database.fetch(SQL["vector_indexes"]))
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
        return [
            (row[0], row[1], row[2], row[3])
            for row in await self._database.fetch(SQL["large_bases"], (over,))
        ]

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


CHANGE_SECONDS = 3600.0
"""For the vectors of a million chunks."""


class PostgresReindexing:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease(self, owner: int, fingerprint: str) -> bool:
        return bool(
            await self._database.fetch(SQL["lease_reindexing"], {"owner": owner, "model": fingerprint})
        )

    async def drop_unused(self, fingerprint: str) -> None:
        model = await model_number(self._database, fingerprint)
        await self._database.execute(SQL["drop_unused_vectors"], {"model": model}, within=BULK_SECONDS)

    async def other_bases(self, fingerprint: str) -> Sequence[int]:
        model = await model_number(self._database, fingerprint)
        others = select(knowledge_base.c.id).where(knowledge_base.c.model != model)
        return await self._database.fetch_column(others.order_by(knowledge_base.c.id))

    async def progress(self, fingerprint: str) -> tuple[int, int]:
        model = await model_number(self._database, fingerprint)
        [(done, total)] = await self._database.fetch(
            SQL["reindexing_progress"], {"model": model}, within=BULK_SECONDS
        )
        return int(done), int(total)

    async def next_other(
        self, base_id: int, fingerprint: str, after: int, limit: int
    ) -> Sequence[OtherChunk]:
        model = await model_number(self._database, fingerprint)
        parameters = {"base": base_id, "model": model, "after": after, "limit": limit}
        return [
            OtherChunk(*row)
            for row in await self._database.fetch(SQL["next_to_reindex"], parameters, within=BULK_SECONDS)
        ]

    async def keep(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
        model = await model_number(self._database, fingerprint)
        bases, numbers = [chunk.base_id for chunk, _ in vectors], [chunk.seq for chunk, _ in vectors]
        packed = [HalfVector(list(vector)) for _, vector in vectors]
        await self._database.execute(SQL["keep_vectors"], (model, bases, numbers, packed))

    @retried
    async def change_over(self, base_id: int, fingerprint: str) -> bool:
        """Locks out uploads that would publish meanwhile; searches go on."""
        model = await model_number(self._database, fingerprint)
        parameters = {"base": base_id, "model": model, "after": 0}
        base = select(knowledge_base.c.id).filter_by(id=base_id).with_for_update(key_share=True)
        async with self._database.transaction(within=CHANGE_SECONDS) as connection:
            if await (await connection.run(base)).fetchone() is None:
                return True
            missing = await connection.execute(SQL["is_any_missing"], parameters)
            if await missing.fetchone() is not None:
                return False
            for name in ("change_over_chunks", "drop_kept_vectors", "change_over_base"):
                await connection.execute(SQL[name], parameters, prepare=False)
        return True

    async def orphans(self) -> dict[str, int]:
        """Counts of rows that belong to nothing, by kind: all should be 0."""
        orphans: list[Any] = await self._database.fetch(SQL["orphans"], within=BULK_SECONDS)
        return dict(orphans)
