"""The two searches over one base in PostgreSQL.

The base's id and all term hashes stand as literals in the statements: only then does the planner use the
base's own vector index and the postings of its own terms. How wide vector indexes are searched, and which
words count as similar, is set on every connection of the pool.

Searches that ask for files: only some files of a base, or only so many chunks of each.

Small bases, and few files of a large one, are looked through exactly. In a large base the vector index is asked for
ever more neighbours, and the words of the query are followed further, until there are as many chunks as are wanted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from pgvector import HalfVector
from psycopg import sql

from adapters.outbound.storage.knowledge.staging import base_model
from adapters.outbound.storage.knowledge.tables import SQL
from adapters.outbound.storage.knowledge.vector_indexes import index_name
from adapters.outbound.storage.knowledge.vocabulary import (
    ALL_COMMON,
    CANDIDATES,
    FEW,
    POSTINGS,
    SMALL,
    any_of,
    best_by_weight,
    masks,
    rarest,
    statistics_of,
)
from adapters.outbound.storage.knowledge.word_index import HeldWords, lex, term_hash
from adapters.outbound.storage.pool import SEARCH_WIDTH, Connection, Database
from domain.knowledge.ranking import of_each_file
from domain.knowledge.rules import DEFAULT, Mode, SearchOptions
from domain.knowledge.text_match import Query, Statistics, TextMatch
from ports.files import SharedFile
from ports.indexing import Vector
from ports.knowledge_storage import Candidate, Passage

FURTHER = 16
"""So many times further words are followed in a large base where too few chunks were found."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The files that a search looks into, None: all of the base; and how many chunks they have."""

    base_id: int
    file_ids: Sequence[int] | None
    chunks: int

    @property
    def condition(self) -> sql.Composable:
        if self.file_ids is None:
            return sql.SQL("")
        return sql.SQL(" AND c.file_id = ANY({}::bigint[])").format(list(self.file_ids))


def nearest(scope: Scope, model: int, options: SearchOptions, depth: int | None) -> sql.Composed:
    """The statement for the nearest chunks: among the `depth` nearest of the base's vector index, None: among all."""
    return sql.SQL(SQL["nearest_of_files"]).format(
        base=scope.base_id,
        model=model,
        files=scope.condition,
        nearest=sql.SQL(" ORDER BY 2 LIMIT {}").format(depth) if depth else sql.SQL(""),
        of_file=options.of_one_file,
        limit=options.top_k,
    )


def by_weight(
    scope: Scope,
    weights: Mapping[str, float],
    statistics: Statistics,
    held: HeldWords,
    options: SearchOptions,
) -> Iterator[sql.Composed]:
    """The statements that find the best chunks by weight, each for the case that the one before found too few."""
    hashes = {term: term_hash(scope.base_id, term) for term in weights}
    for condition, most in _conditions(scope, weights, statistics, hashes, options):
        yield sql.SQL(SQL["weighed"]).format(
            base=scope.base_id,
            files=scope.condition,
            condition=condition,
            held=masks(held),
            most=most,
            weights=lex({hashes[term]: weight for term, weight in weights.items()}).to_text(),
            of_file=CANDIDATES * options.of_one_file,
            limit=CANDIDATES * options.top_k,
        )


def _conditions(
    scope: Scope,
    weights: Mapping[str, float],
    statistics: Statistics,
    hashes: Mapping[str, int],
    options: SearchOptions,
) -> Iterator[tuple[sql.Composable, int | None]]:
    if scope.chunks <= SMALL:
        few = sum(statistics.frequency[term] for term in weights) * FEW <= statistics.chunks
        yield any_of(list(hashes.values())) if few else sql.SQL("TRUE"), None
        return
    # The beginnings of files: where every word is common, they hold chunks as good as the rest.
    of_file = CANDIDATES * options.of_one_file if options.per_file else ALL_COMMON
    first = sql.SQL(SQL["first_of_files"]).format(
        base=scope.base_id, files=scope.condition, of_file=of_file, most=ALL_COMMON
    )
    yield rarest(weights, statistics, hashes, POSTINGS) or first, ALL_COMMON
    further = rarest(weights, statistics, hashes, POSTINGS * FURTHER)
    yield sql.SQL(" OR ").join([first, *([further] if further else [])]), ALL_COMMON * FURTHER


FAR = 0.5
"""A query whose neighbours are less near lies outside of all clusters, where a narrow search of a vector index
misses many of them."""
WIDE = 1000
"""How many candidates the search for such a query keeps; pgvector takes no more."""


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
                scope = await _scope(connection, base_id, options)
                rows: list[Any] = []
                for statement in by_weight(scope, weights, statistics, held, options):
                    rows = await _all(connection, statement)
                    chosen = of_each_file(rows, options.of_one_file, itemgetter(1))
                    if len(list(chosen)) >= options.top_k:
                        break
                return [Candidate(str(seq), held.of(masks), file_id) for seq, file_id, *masks in rows]
            rows = await _all(connection, best_by_weight(base_id, weights, statistics, held, options))
        return [Candidate(str(seq), held.of(masks)) for seq, *masks in rows]

    async def nearest(
        self, base_id: int, vector: Vector, fingerprint: str, options: SearchOptions = DEFAULT
    ) -> Sequence[tuple[str, float]]:
        model = await self._model(fingerprint)
        if model is None:
            return []
        query_vector = HalfVector(list(vector))
        async with self._database.connection() as connection:
            if options.by_file:
                rows = await _nearest_of_files(connection, base_id, model, query_vector, options)
            else:
                index = index_name(base_id, model)
                statement = sql.SQL(SQL["nearest"]).format(
                    base=base_id, model=model, limit=options.top_k, vector_index=index
                )
                rows = await _nearest(connection, statement, query_vector)
                if rows and rows[0][2] and rows[-1][1] < FAR:
                    rows = await _wider(connection, statement, query_vector)
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
        statement = sql.SQL(SQL["passages"]).format(
            model=model,
            base=base_id,
            held=sql.SQL(", ").join([sql.SQL("-(i.lex <#> %s::sparsevec)")] * len(held.vectors)),
        )
        key_numbers = [int(key) for key in keys]
        query_vector = HalfVector(list(vector)) if vector is not None else None
        async with self._database.connection() as connection:
            cursor = await connection.execute(
                statement, (query_vector, *held.vectors, key_numbers, key_numbers), binary=True
            )
            rows: list[Any] = await cursor.fetchall()
        passages: list[Passage] = []
        for row in rows:
            key, chunk_id, text, context, metadata, file_hash, source_url, *file, cosine = row[:12]
            passages.append(
                Passage(
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
            )
        return passages

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


async def _nearest_of_files(
    connection: Connection, base_id: int, model: int, vector: HalfVector, options: SearchOptions
) -> list[Any]:
    scope = await _scope(connection, base_id, options)
    is_indexed = False
    if scope.chunks > SMALL:
        named = sql.SQL("SELECT to_regclass({})").format(index_name(base_id, model))
        [(is_indexed,)] = await _all(connection, named)
    if is_indexed:
        narrow = nearest(scope, model, options, SEARCH_WIDTH)
        rows = await _nearest(connection, narrow, vector)
        if len(rows) == options.top_k and rows[-1][1] >= FAR:
            return rows
        rows = await _wider(connection, nearest(scope, model, options, WIDE), vector)
        if len(rows) == options.top_k:
            return rows
    return await _nearest(connection, nearest(scope, model, options, None), vector)


async def _scope(connection: Connection, base_id: int, options: SearchOptions) -> Scope:
    if options.file_ids:
        hashes = list(options.file_ids)
        rows = await _all(connection, sql.SQL(SQL["scope_of_files"]).format(base=base_id, hashes=hashes))
        return Scope(base_id, [file_id for file_id, _ in rows], sum(chunks for _, chunks in rows))
    statement = sql.SQL("SELECT chunk_count FROM knowledge_base WHERE id = {}").format(base_id)
    return Scope(base_id, None, sum(chunks for (chunks,) in await _all(connection, statement)))


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
