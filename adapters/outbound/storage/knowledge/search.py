"""The two searches over one base in PostgreSQL.

The base's id and all term hashes stand as literals in the statements: only then does the planner use the
base's own vector index and the postings of its own terms. How wide vector indexes are searched, and which
words count as similar, is set on every connection of the pool.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from pgvector import HalfVector
from psycopg import sql

from adapters.outbound.storage.knowledge import file_candidates
from adapters.outbound.storage.knowledge.file_candidates import SCOPE, Scope
from adapters.outbound.storage.knowledge.held_words import HeldWords
from adapters.outbound.storage.knowledge.staging import base_model
from adapters.outbound.storage.knowledge.text_candidates import SMALL, best_by_weight
from adapters.outbound.storage.knowledge.vector_indexes import index_name
from adapters.outbound.storage.knowledge.vocabulary import statistics_of
from adapters.outbound.storage.pool import SEARCH_WIDTH, Connection, Database
from domain.knowledge.ranking import of_each_file
from domain.knowledge.rules import DEFAULT, Mode, SearchOptions
from domain.knowledge.text_match import Query, Statistics, TextMatch
from ports.files import SharedFile
from ports.indexing import Vector
from ports.knowledge_storage import Candidate, Passage

FAR = 0.5
"""A query whose neighbours are less near lies outside of all clusters, where a narrow search of a vector index
misses many of them."""
WIDE = 1000
"""How many candidates the search for such a query keeps; pgvector takes no more."""

NEAREST = """
SELECT seq, 1 - distance, (SELECT to_regclass({vector_index}) IS NOT NULL) FROM (
    SELECT i.seq, i.embedding <=> %s::halfvec AS distance FROM chunk_index i
    WHERE i.kb_id = {base} AND i.model = {model} ORDER BY 2 LIMIT {limit}
) nearest
"""
PASSAGES = """
SELECT c.seq, c.chunk_id, c.text, c.context, c.metadata, f.file_hash, f.source_url,
    f.blob_key, f.file_name, f.mime_type, f.id,
    CASE WHEN i.model = {model} THEN 1 - (i.embedding <=> %s::halfvec) END, {held}
FROM chunk c JOIN chunk_index i ON i.kb_id = c.kb_id AND i.seq = c.seq JOIN kb_file f ON f.id = c.file_id
WHERE c.kb_id = {base} AND i.kb_id = {base} AND c.seq = ANY(%s) AND i.seq = ANY(%s)
"""


class PostgresChunkIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, int] = {}

    async def model_of(self, base_id: int) -> str | None:
        return await base_model(self._database, base_id)

    async def statistics(self, base_id: int, query: Query) -> Statistics:
        async with self._database.connection() as connection:
            return await statistics_of(connection, base_id, query)

    async def matches(
        self, base_id: int, match: TextMatch, statistics: Statistics, options: SearchOptions = DEFAULT
    ) -> Sequence[Candidate]:
        weights = {
            term: weight for term, weight in match.weights().items() if statistics.frequency.get(term, 0) > 0
        }
        if not weights:
            return []
        held = HeldWords(base_id, match.vocabulary)
        async with self._database.connection() as connection:
            if options.by_file or options.mode is Mode.TEXT:
                rows = await _best_of_files(connection, base_id, weights, statistics, held, options)
                return [Candidate(str(seq), held.of(masks), file_id) for seq, file_id, *masks in rows]
            rows = await _all(connection, best_by_weight(base_id, weights, statistics, held, options))
        return [Candidate(str(seq), held.of(masks)) for seq, *masks in rows]

    async def nearest(
        self, base_id: int, vector: Vector, fingerprint: str, options: SearchOptions = DEFAULT
    ) -> Sequence[tuple[str, float]]:
        model = await self._model(fingerprint)
        if model is None:
            return []
        given = HalfVector(list(vector))
        async with self._database.connection() as connection:
            if options.by_file:
                rows = await _nearest_of_files(connection, base_id, model, given, options)
            else:
                rows = await _nearest_of_all(connection, base_id, model, given, options.top_k)
        return [(str(seq), float(cosine)) for seq, cosine, *_ in rows]

    async def passages(
        self,
        base_id: int,
        keys: Sequence[str],
        vocabulary: frozenset[str],
        vector: Vector | None,
        fingerprint: str,
    ) -> Sequence[Passage]:
        if not keys:
            return []
        model = await self._model(fingerprint) if vector is not None else None
        held = HeldWords(base_id, vocabulary)
        statement = sql.SQL(PASSAGES).format(
            model=model,
            base=base_id,
            held=sql.SQL(", ").join([sql.SQL("-(i.lex <#> %s::sparsevec)")] * len(held.vectors)),
        )
        wanted = [int(key) for key in keys]
        given = HalfVector(list(vector)) if vector is not None else None
        async with self._database.connection() as connection:
            cursor = await connection.execute(statement, (given, *held.vectors, wanted, wanted), binary=True)
            rows: list[Any] = await cursor.fetchall()
        return [_passage(row, held) for row in rows]

    async def _model(self, fingerprint: str) -> int | None:
        """The number of a model; None when it has embedded nothing yet."""
        if fingerprint not in self._models:
            row = await self._database.fetch_one(
                "SELECT id FROM embedding_model WHERE fingerprint = %s", (fingerprint,)
            )
            if row is None:
                return None
            self._models[fingerprint] = row[0]
        return self._models[fingerprint]


async def _best_of_files(
    connection: Connection,
    base_id: int,
    weights: Mapping[str, float],
    statistics: Statistics,
    held: HeldWords,
    options: SearchOptions,
) -> list[Any]:
    scope = await _scope(connection, base_id, options)
    rows: list[Any] = []
    for statement in file_candidates.by_weight(scope, weights, statistics, held, options):
        rows = await _all(connection, statement)
        chosen = of_each_file(rows, options.of_one_file, itemgetter(1))
        if len(list(chosen)) >= options.top_k:
            break
    return rows


async def _nearest_of_files(
    connection: Connection, base_id: int, model: int, vector: HalfVector, options: SearchOptions
) -> list[Any]:
    scope = await _scope(connection, base_id, options)
    if scope.chunks > SMALL and await _is_indexed(connection, base_id, model):
        narrow = file_candidates.nearest(scope, model, options, SEARCH_WIDTH)
        rows = await _nearest(connection, narrow, vector)
        if len(rows) == options.top_k and rows[-1][1] >= FAR:
            return rows
        rows = await _wider(connection, file_candidates.nearest(scope, model, options, WIDE), vector)
        if len(rows) == options.top_k:
            return rows
    return await _nearest(connection, file_candidates.nearest(scope, model, options, None), vector)


async def _scope(connection: Connection, base_id: int, options: SearchOptions) -> Scope:
    if options.file_ids:
        hashes = list(options.file_ids)
        rows = await _all(connection, sql.SQL(SCOPE).format(base=base_id, hashes=hashes))
        return Scope(base_id, [file_id for file_id, _ in rows], sum(chunks for _, chunks in rows))
    statement = sql.SQL("SELECT chunk_count FROM knowledge_base WHERE id = {}").format(base_id)
    return Scope(base_id, None, sum(chunks for (chunks,) in await _all(connection, statement)))


async def _is_indexed(connection: Connection, base_id: int, model: int) -> bool:
    name = index_name(base_id, model)
    return bool((await _all(connection, sql.SQL("SELECT to_regclass({})").format(name)))[0][0])


async def _nearest_of_all(
    connection: Connection, base_id: int, model: int, vector: HalfVector, limit: int
) -> list[Any]:
    statement = sql.SQL(NEAREST).format(
        base=base_id, model=model, limit=limit, vector_index=index_name(base_id, model)
    )
    rows = await _nearest(connection, statement, vector)
    if rows and rows[0][2] and rows[-1][1] < FAR:
        return await _wider(connection, statement, vector)
    return rows


async def _nearest(connection: Connection, statement: sql.Composed, vector: HalfVector) -> list[Any]:
    cursor = await connection.execute(statement, (vector,), binary=True)
    return await cursor.fetchall()


async def _wider(connection: Connection, statement: sql.Composed, vector: HalfVector) -> list[Any]:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL hnsw.ef_search = {WIDE}")
        return await _nearest(connection, statement, vector)


async def _all(connection: Connection, statement: sql.Composed) -> list[Any]:
    cursor = await connection.execute(statement, binary=True, prepare=False)
    return await cursor.fetchall()


def _passage(row: Any, held: HeldWords) -> Passage:
    key, chunk_id, text, context, metadata, file_hash, source_url, *file, cosine = row[:12]
    return Passage(
        key=str(key),
        chunk_id=chunk_id,
        text=text,
        context=context,
        metadata=metadata,
        file_hash=file_hash,
        file=SharedFile(*file),
        held=held.of(row[12:]),
        cosine=float(cosine or 0.0),
        source_url=source_url,
    )
