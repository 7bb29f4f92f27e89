"""Vector indexes of large bases: one partial HNSW index for each base and model, kept by maintenance.

Small bases are searched exactly. One index over all bases with a filter on the base would find nothing for
small ones: the neighbours it visits belong to others.
"""

from __future__ import annotations

import re

import psycopg
from psycopg import sql

from adapters.outbound.storage.pool import Database

BUILD_OVER = 10_000
DROP_UNDER = 7_000

EXISTING = """
SELECT c.relname, i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relname LIKE 'hnsw\\_%%'
"""
LARGE = """
SELECT b.id, i.tableoid::regclass::text, i.model FROM knowledge_base b
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
            _name(base, model): (base, leaf, model) for base, leaf, model in await self._large(BUILD_OVER)
        }
        kept = {_name(base, model) for base, _, model in await self._large(DROP_UNDER)}
        changes = 0
        for name, valid in existing.items():
            if name not in kept or (not valid and not await self._building(name)):
                await _drop(self._database, name)
                changes += 1
                existing = {other: each for other, each in existing.items() if other != name}
        for name, (base, leaf, model) in large.items():
            if name not in existing:
                changes += await self._build(name, base, leaf, model)
        return changes

    async def _large(self, over: int) -> list[tuple[int, str, int]]:
        return [(row[0], row[1], row[2]) for row in await self._database.fetch(LARGE, (over,))]

    async def _building(self, name: str) -> bool:
        row = await self._database.fetch_one(
            "SELECT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = to_regclass(%s))",
            (name,),
        )
        return bool(row and row[0])

    async def _build(self, name: str, base: int, leaf: str, model: int) -> int:
        statement = sql.SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON {} USING hnsw (embedding halfvec_cosine_ops)"
            " WITH (m = 16, ef_construction = 64) WHERE kb_id = {} AND model = {}"
        ).format(sql.Identifier(name), sql.Identifier(leaf), base, model)
        async with self._database.connection() as connection:
            try:
                await connection.execute(statement)
            except psycopg.errors.DuplicateTable:
                return 0  # another worker was faster
        return 1


async def _drop(database: Database, name: str) -> None:
    async with database.connection() as connection:
        await connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def _name(base: int, model: int) -> str:
    return f"hnsw_{base}_{model}"


def _base_of(name: str) -> int | None:
    found = re.fullmatch(r"hnsw_(\d+)_(\d+)", name)
    return int(found.group(1)) if found else None
