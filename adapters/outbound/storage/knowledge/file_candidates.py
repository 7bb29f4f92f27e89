"""Searches that ask for files: only some files of a base, or only so many chunks of each.

Small bases, and few files of a large one, are looked through exactly. In a large base the vector index is asked for
ever more neighbours, and the words of the query are followed further, until there are as many chunks as are wanted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql

from adapters.outbound.storage.knowledge.held_words import HeldWords
from adapters.outbound.storage.knowledge.terms import lex, term_hash
from adapters.outbound.storage.knowledge.text_candidates import (
    ALL_COMMON,
    CANDIDATES,
    FEW,
    POSTINGS,
    SMALL,
    any_of,
    masks,
    rarest,
)
from domain.knowledge.rules import SearchOptions
from domain.knowledge.text_match import Statistics

FURTHER = 16
"""So many times further words are followed in a large base where too few chunks were found."""

SCOPE = """
SELECT id, chunk_count FROM kb_file WHERE kb_id = {base} AND file_hash = ANY({hashes}::text[])
"""
NEAREST_FILES = """
SELECT seq, 1 - distance FROM (
    SELECT n.seq, n.distance, row_number() OVER (PARTITION BY c.file_id ORDER BY n.distance, n.seq) AS place
    FROM (
        SELECT seq, embedding <=> %s::halfvec AS distance FROM chunk_index
        WHERE kb_id = {base} AND model = {model}{nearest}
    ) n JOIN chunk c ON c.kb_id = {base} AND c.seq = n.seq{files}
) ranked WHERE place <= {of_file} ORDER BY distance, seq LIMIT {limit}
"""
WEIGHED = """
WITH m AS MATERIALIZED (
    SELECT i.seq, i.lex, c.file_id FROM chunk_index i JOIN chunk c ON c.kb_id = {base} AND c.seq = i.seq{files}
    WHERE i.kb_id = {base} AND ({condition}) LIMIT {most}
), best AS MATERIALIZED (
    SELECT seq, file_id FROM (
        SELECT seq, file_id, weight, row_number() OVER (PARTITION BY file_id ORDER BY weight, seq) AS place
        FROM (SELECT seq, file_id, lex <#> {weights}::sparsevec AS weight FROM m) weighed WHERE weight < 0
    ) ranked WHERE place <= {of_file} ORDER BY weight, seq LIMIT {limit}
) SELECT i.seq, b.file_id, {held} FROM best b JOIN chunk_index i ON i.kb_id = {base} AND i.seq = b.seq
"""
FIRST_OF_FILES = """
i.seq = ANY(ARRAY(
    SELECT first.seq FROM kb_file f CROSS JOIN LATERAL (
        SELECT c.seq FROM chunk c WHERE c.kb_id = {base} AND c.file_id = f.id{files}
        ORDER BY c.position LIMIT {of_file}
    ) first WHERE f.kb_id = {base} LIMIT {most}
))
"""


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
    return sql.SQL(NEAREST_FILES).format(
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
        yield sql.SQL(WEIGHED).format(
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
    first = _first_of_files(scope, options)
    yield rarest(weights, statistics, hashes, POSTINGS) or first, ALL_COMMON
    further = rarest(weights, statistics, hashes, POSTINGS * FURTHER)
    yield sql.SQL(" OR ").join([first, *([further] if further else [])]), ALL_COMMON * FURTHER


def _first_of_files(scope: Scope, options: SearchOptions) -> sql.Composable:
    """The beginnings of files: where every word is common, they hold chunks as good as the rest."""
    of_file = CANDIDATES * options.of_one_file if options.per_file else ALL_COMMON
    return sql.SQL(FIRST_OF_FILES).format(
        base=scope.base_id, files=scope.condition, of_file=of_file, most=ALL_COMMON
    )
