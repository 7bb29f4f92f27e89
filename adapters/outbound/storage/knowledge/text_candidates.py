"""Which rows of a base the text search looks at: one statement for each query.

A small base, or a query whose words stand in few chunks, is answered exactly. In a large base the rarest words
are followed as far as a budget of postings reaches, and the next ones where they stand together.
"""

from collections.abc import Mapping, Sequence
from typing import LiteralString

from psycopg import sql

from adapters.outbound.storage.knowledge.held_words import HeldWords
from adapters.outbound.storage.knowledge.terms import lex, term_hash
from domain.knowledge.rules import DEFAULT, SearchOptions
from domain.knowledge.text_match import Statistics

SMALL = 10_000
"""Up to so many chunks a scan of the whole base costs no more than following the postings of common words."""
POSTINGS = 2000
"""How many postings a query may touch in a large base: its rarest words, as many as fit."""
FEW = 3
"""In a small base postings are followed that are fewer than this part of its chunks."""
TELLING = 4
"""Words that weigh less than this part of the query's rarest do not count there: what holds nothing else scores
below a quarter, and is no match to speak of."""
ALL_COMMON = 4000
"""Where every word is common, almost any part of a base holds chunks as good as the rest."""
CANDIDATES = 12
"""So many times as many by weight hold the best by score."""

# The words that a chunk holds are asked of the best alone.
WHOLE = """
SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM chunk_index WHERE kb_id = {base} ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))
"""
RANKED = """
WITH m AS MATERIALIZED (
    SELECT seq, lex FROM chunk_index WHERE kb_id = {base} AND ({condition}) LIMIT {most}
) SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM m ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))
"""
FIRST = """
SELECT seq, {held} FROM chunk_index WHERE kb_id = {base} AND seq = ANY(ARRAY(
    SELECT seq FROM (SELECT seq, lex FROM chunk_index WHERE kb_id = {base} ORDER BY seq LIMIT {most}) m
    ORDER BY lex <#> {weights}::sparsevec, seq LIMIT {limit}
))
"""


def best_by_weight(
    base_id: int,
    weights: Mapping[str, float],
    statistics: Statistics,
    held: HeldWords,
    options: SearchOptions = DEFAULT,
) -> sql.Composed:
    """The statement that finds the best chunks by the weights of the words that they hold, with their masks.

    `weights` names words that the base knows, at least one.
    """
    hashes = {term: term_hash(base_id, term) for term in weights}
    text, condition = _plan(weights, statistics, hashes)
    return sql.SQL(text).format(
        base=base_id,
        condition=condition,
        held=masks(held),
        most=ALL_COMMON,
        weights=lex({hashes[term]: weight for term, weight in weights.items()}).to_text(),
        limit=CANDIDATES * options.top_k,
    )


def masks(held: HeldWords) -> sql.Composable:
    """The columns that tell which words a chunk holds."""
    columns = [sql.SQL("-(lex <#> {}::sparsevec)").format(mask.to_text()) for mask in held.vectors]
    return sql.SQL(", ").join(columns)


def _plan(
    weights: Mapping[str, float], statistics: Statistics, hashes: Mapping[str, int]
) -> tuple[LiteralString, sql.Composable]:
    """The rarest words as far as their postings fit; and chunks that hold all of the next ones together."""
    if statistics.chunks <= SMALL:
        least = max(weights.values()) / TELLING
        telling = [term for term, weight in weights.items() if weight >= least]
        few = sum(statistics.frequency[term] for term in telling) * FEW <= statistics.chunks
        return (RANKED, any_of([hashes[term] for term in telling])) if few else (WHOLE, sql.SQL(""))
    condition = rarest(weights, statistics, hashes, POSTINGS)
    return (RANKED, condition) if condition else (FIRST, sql.SQL(""))


def rarest(
    weights: Mapping[str, float], statistics: Statistics, hashes: Mapping[str, int], budget: int
) -> sql.Composable | None:
    """Chunks that hold one of the rarest words, as far as the budget of postings reaches, or the next ones together.
    None where every word is common."""
    ranked = sorted(weights, key=lambda term: (statistics.frequency[term], term))
    rare: list[str] = []
    left = budget
    while ranked and statistics.frequency[ranked[0]] <= left:
        left -= statistics.frequency[ranked[0]]
        rare.append(ranked.pop(0))
    parts = [any_of([hashes[term] for term in rare])] if rare else []
    together, expected = _together(ranked, statistics, budget)
    if not rare and expected > max(budget, statistics.chunks / 50):
        return None
    if together and (expected <= budget or not rare):
        parts.append(_all_of([hashes[term] for term in together]))
    return sql.SQL(" OR ").join(parts)


def _together(ranked: Sequence[str], statistics: Statistics, budget: int) -> tuple[list[str], float]:
    """The fewest of the rarest remaining words whose common chunks fit the budget, were they independent."""
    chosen: list[str] = []
    expected = float(statistics.chunks)
    for term in ranked[:5]:
        chosen.append(term)
        expected *= statistics.frequency[term] / max(1, statistics.chunks)
        if len(chosen) >= 2 and expected <= budget:
            break
    return chosen, expected


def any_of(hashes: Sequence[int]) -> sql.Composable:
    return sql.SQL("terms && {}::int4[]").format(list(hashes))


def _all_of(hashes: Sequence[int]) -> sql.Composable:
    return sql.SQL("terms @> {}::int4[]").format(list(hashes))
