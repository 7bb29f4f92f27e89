"""What the vocabulary of a base knows of a query's words."""

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from adapters.outbound.storage.knowledge.word_forms import (
    beginnings,
    forms_of,
    languages,
    languages_of_base,
    mark_words,
    may_have_forms,
)
from adapters.outbound.storage.pool import Connection
from domain.knowledge.text_match import Query, Statistics, unknown_words

FUZZY_WORDS = 3
FUZZY_TERMS = 8
FORM_WORDS = 16
"""So many words of a query are looked for in other forms."""
FORM_TERMS = 100
"""So many words of the base that begin with a stem are looked at."""

FREQUENCIES = """
SELECT NULL, chunk_count FROM knowledge_base WHERE id = {base} UNION ALL
SELECT term, df FROM kb_term WHERE kb_id = {base} AND term = ANY({terms}::text[])
"""
FORMS = """
SELECT s.word, t.term, t.df FROM unnest({words}::text[], {starts}::text[]) s(word, start)
CROSS JOIN LATERAL (
    SELECT term, df FROM kb_term WHERE kb_id = {base} AND term >= s.start AND term < s.start || chr(1114111)
    ORDER BY term LIMIT {limit}
) t
"""
"""Index: the primary key, in the order of bytes."""
SIMILAR = """
SELECT w.word, t.term, t.df, similarity(t.term, w.word) FROM unnest({words}::text[]) w(word)
CROSS JOIN LATERAL (
    SELECT term, df FROM kb_term WHERE kb_id = {base} AND term % w.word
    ORDER BY similarity(term, w.word) DESC, df DESC, term LIMIT {limit}
) t
"""


async def statistics_of(connection: Connection, base_id: int, query: Query) -> Statistics:
    """What a base knows of a query's words, of their other forms, and of words that are like the unknown ones."""
    terms = [*query.terms, *mark_words()]
    rows = await _all(connection, sql.SQL(FREQUENCIES).format(base=base_id, terms=terms))
    known: dict[str, int] = {term: df for term, df in rows if term is not None}
    chunks = next((count for term, count in rows if term is None), 0)
    frequency = {term: known[term] for term in query.terms if term in known}
    asked, held = languages(query.words), languages_of_base(known, chunks)
    spoken = tuple(dict.fromkeys([*asked, *held]))
    forms = await _forms(connection, base_id, query, spoken, frequency)
    unknown = [word for word in unknown_words(query, frequency) if word not in forms][:FUZZY_WORDS]
    similar = await _similar(connection, base_id, unknown, frequency) if unknown else {}
    return Statistics(chunks, frequency, similar, forms, asked or held)


async def _forms(
    connection: Connection,
    base_id: int,
    query: Query,
    spoken: Sequence[str],
    frequency: dict[str, int],
) -> dict[str, dict[str, float]]:
    """Other forms of the query's words in the base; their frequencies join the others."""
    inflected = [word for word in query.words if may_have_forms(word)][:FORM_WORDS]
    ranges = [(word, start) for word in inflected for start in beginnings(word, spoken)]
    if not ranges:
        return {}
    asked, starts = [word for word, _ in ranges], [start for _, start in ranges]
    statement = sql.SQL(FORMS).format(words=asked, starts=starts, base=base_id, limit=FORM_TERMS)
    counts: dict[str, dict[str, int]] = {}
    for word, term, df in await _all(connection, statement):
        counts.setdefault(word, {})[term] = df
    forms = {word: forms_of(word, terms, spoken) for word, terms in counts.items()}
    for word, parts in forms.items():
        frequency.update({term: counts[word][term] for term in parts})
    return {word: parts for word, parts in forms.items() if parts}


async def _similar(
    connection: Connection, base_id: int, unknown: Sequence[str], frequency: dict[str, int]
) -> dict[str, dict[str, float]]:
    """The words of the base that are like the unknown ones; their frequencies join the others."""
    statement = sql.SQL(SIMILAR).format(words=list(unknown), base=base_id, limit=FUZZY_TERMS)
    rows = await _all(connection, statement)
    similar: dict[str, dict[str, float]] = {}
    for word, term, df, likeness in rows:
        similar.setdefault(word, {})[term] = likeness
        frequency[term] = df
    return similar


async def _all(connection: Connection, statement: sql.Composed) -> list[Any]:
    cursor = await connection.execute(statement, binary=True, prepare=False)
    return await cursor.fetchall()
