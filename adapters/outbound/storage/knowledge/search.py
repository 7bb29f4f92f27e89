"""The two searches over one base in PostgreSQL.

The base's id and all term hashes stand as literals in the statements: only then does the planner use the
base's own vector index and the postings of its own terms. How wide vector indexes are searched, and which
words count as similar, is set on every connection of the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from adapters.outbound.storage.knowledge.forms import lex, term_hash, vector_text
from adapters.outbound.storage.pool import Connection, Database
from domain.knowledge.text_match import Query, Statistics, TextMatch, unknown_words
from ports.embedding import Vector
from ports.knowledge_storage import Candidate, Passage

POSTINGS = 2000
"""How many postings a query may touch: its rarest words, as many as fit."""
CANDIDATES = 120
"""So many of them by weight hold the ten best by score."""
FUZZY_WORDS = 3
FUZZY_TERMS = 8
ALL_COMMON = 500

SIMILAR = """
SELECT w.word, t.term, t.df, similarity(t.term, w.word) FROM unnest({words}::text[]) w(word)
CROSS JOIN LATERAL (
    SELECT term, df FROM kb_term WHERE kb_id = {base} AND term % w.word
    ORDER BY similarity(term, w.word) DESC, df DESC, term LIMIT {limit}
) t
"""
RANKED = """
WITH m AS MATERIALIZED (
    SELECT seq, lex, terms FROM chunk_index WHERE kb_id = {base} AND ({condition}) LIMIT {most}
) SELECT seq, terms FROM m ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
"""
NEAREST = """
SELECT seq, 1 - distance FROM (
    SELECT i.seq, i.embedding <=> %s::halfvec AS distance FROM chunk_index i
    WHERE i.kb_id = {base} AND i.model = {model} ORDER BY 2 LIMIT {limit}
) nearest
"""
PASSAGES = """
SELECT c.seq, c.chunk_id, c.text, c.context, c.metadata, f.file_hash, f.file_name, i.terms,
    CASE WHEN i.model = {model} THEN 1 - (i.embedding <=> %s::halfvec) END
FROM chunk c JOIN chunk_index i ON i.kb_id = c.kb_id AND i.seq = c.seq JOIN kb_file f ON f.id = c.file_id
WHERE c.kb_id = {base} AND i.kb_id = {base} AND c.seq = ANY(%s) AND i.seq = ANY(%s)
"""


class PostgresChunkIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._models: dict[str, int] = {}

    async def statistics(self, base_id: int, query: Query) -> Statistics:
        async with self._database.connection() as connection:
            rows = await _all(
                connection,
                sql.SQL(
                    "SELECT NULL, chunk_count FROM knowledge_base WHERE id = {base} UNION ALL"
                    " SELECT term, df FROM kb_term WHERE kb_id = {base} AND term = ANY({terms}::text[])"
                ).format(base=base_id, terms=list(query.terms)),
            )
            frequency: dict[str, int] = {term: df for term, df in rows if term is not None}
            chunks = next((count for term, count in rows if term is None), 0)
            unknown = unknown_words(query, frequency)[:FUZZY_WORDS]
            similar = await self._similar(connection, base_id, unknown, frequency) if unknown else {}
        return Statistics(chunks, frequency, similar)

    async def _similar(
        self, connection: Connection, base_id: int, unknown: Sequence[str], frequency: dict[str, int]
    ) -> dict[str, dict[str, float]]:
        """The words of the base that are like the unknown ones; their frequencies join the others."""
        statement = sql.SQL(SIMILAR).format(words=list(unknown), base=base_id, limit=FUZZY_TERMS)
        rows = await _all(connection, statement)
        similar: dict[str, dict[str, float]] = {}
        for word, term, df, likeness in rows:
            similar.setdefault(word, {})[term] = likeness
            frequency[term] = df
        return similar

    async def matches(self, base_id: int, match: TextMatch, statistics: Statistics) -> Sequence[Candidate]:
        weights = {
            term: weight for term, weight in match.weights().items() if statistics.frequency.get(term, 0) > 0
        }
        if not weights:
            return []
        hashes = {term: term_hash(base_id, term) for term in match.vocabulary}
        condition, common = _condition(weights, statistics, hashes)
        statement = sql.SQL(RANKED).format(
            base=base_id,
            condition=condition,
            most=ALL_COMMON if common else POSTINGS * 2,
            weights=lex({hashes[term]: weight for term, weight in weights.items()}),
            limit=CANDIDATES,
        )
        async with self._database.connection() as connection:
            rows = await (_first(connection, statement) if common else _all(connection, statement))
        return [Candidate(str(seq), _held(hashes, terms)) for seq, terms in rows]

    async def nearest(
        self, base_id: int, vector: Vector, fingerprint: str, limit: int
    ) -> Sequence[tuple[str, float]]:
        model = await self._model(fingerprint)
        if model is None:
            return []
        statement = sql.SQL(NEAREST).format(base=base_id, model=model, limit=limit)
        async with self._database.connection() as connection:
            cursor = await connection.execute(statement, (vector_text(vector),), binary=True)
            rows: list[Any] = await cursor.fetchall()
        return [(str(seq), float(cosine)) for seq, cosine in rows]

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
        statement = sql.SQL(PASSAGES).format(model=model, base=base_id)
        wanted = [int(key) for key in keys]
        given = vector_text(vector) if vector is not None else None
        hashes = {term: term_hash(base_id, term) for term in vocabulary}
        async with self._database.connection() as connection:
            cursor = await connection.execute(statement, (given, wanted, wanted), binary=True)
            rows: list[Any] = await cursor.fetchall()
        return [_passage(row, hashes) for row in rows]

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


async def _all(connection: Connection, statement: sql.Composed) -> list[Any]:
    cursor = await connection.execute(statement, binary=True, prepare=False)
    return await cursor.fetchall()


async def _first(connection: Connection, statement: sql.Composed) -> list[Any]:
    """For what almost every row fits: the first rows are found without reading long postings."""
    async with connection.transaction():
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        return await _all(connection, statement)


def _passage(row: Any, hashes: dict[str, int]) -> Passage:
    key, chunk_id, text, context, metadata, file_hash, file_name, terms, cosine = row
    return Passage(
        key=str(key),
        chunk_id=chunk_id,
        text=text,
        context=context,
        metadata=metadata,
        file_hash=file_hash,
        file_name=file_name,
        held=_held(hashes, terms),
        cosine=float(cosine or 0.0),
    )


def _held(hashes: dict[str, int], terms: Sequence[int]) -> frozenset[str]:
    there = set(terms)
    return frozenset(term for term, hashed in hashes.items() if hashed in there)


def _condition(
    weights: dict[str, float], statistics: Statistics, hashes: dict[str, int]
) -> tuple[sql.Composable, bool]:
    """Which rows to look at, and whether that is so great a part of the base that order does not matter.

    The rarest words as far as their postings fit; and chunks that hold all of the next ones together.
    """
    ranked = sorted(weights, key=lambda term: (statistics.frequency[term], term))
    rare: list[str] = []
    budget = POSTINGS
    while ranked and statistics.frequency[ranked[0]] <= budget:
        budget -= statistics.frequency[ranked[0]]
        rare.append(ranked.pop(0))
    parts = [_any_of([hashes[term] for term in rare])] if rare else []
    together, expected = _together(ranked, statistics)
    if together and (expected <= POSTINGS or not rare):
        parts.append(_all_of([hashes[term] for term in together]))
    common = not rare and expected > max(POSTINGS, statistics.chunks / 50)
    return sql.SQL(" OR ").join(parts), common


def _together(ranked: Sequence[str], statistics: Statistics) -> tuple[list[str], float]:
    """The fewest of the rarest remaining words whose common chunks fit the budget, were they independent."""
    chosen: list[str] = []
    expected = float(statistics.chunks)
    for term in ranked[:5]:
        chosen.append(term)
        expected *= statistics.frequency[term] / max(1, statistics.chunks)
        if len(chosen) >= 2 and expected <= POSTINGS:
            break
    return chosen, expected


def _any_of(hashes: Sequence[int]) -> sql.Composable:
    return sql.SQL("terms && {}::int4[]").format(list(hashes))


def _all_of(hashes: Sequence[int]) -> sql.Composable:
    return sql.SQL("terms @> {}::int4[]").format(list(hashes))
