"""The words under which chunks are indexed: those of an older version are brought up to date in the background.

A chunk's terms tell under which words it is indexed; so whoever counts them counts what is there, whichever version
indexed it. Search goes on meanwhile: each chunk changes over by itself, with the frequencies of its words.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import knowledge_base
from adapters.outbound.storage.knowledge.terms import lex, term_hash
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.schema_version import READ, SchemaVersion, head
from domain.knowledge.index_words import VERSION, index_words

log = logging.getLogger(__name__)

BATCH = 200
"""Chunks that are looked at in one transaction: uploads of the same base wait for it."""

OLD = """
SELECT i.seq, i.terms, c.context, c.text FROM chunk_index i JOIN chunk c ON c.kb_id = i.kb_id AND c.seq = i.seq
WHERE i.kb_id = %(base)s AND i.seq > %(after)s AND i.seq <= %(last)s ORDER BY i.seq LIMIT %(limit)s
"""
"""Index: the primary keys."""
REPLACE = """
UPDATE chunk_index i SET terms = n.terms::int4[], lex = n.lex::sparsevec
FROM unnest(%s::int8[], %s::text[], %s::text[]) n(seq, terms, lex)
WHERE i.kb_id = %s AND i.seq = n.seq RETURNING i.seq
"""
COUNT = (
    """
    INSERT INTO kb_term AS t (kb_id, term, df)
    SELECT %(base)s, word, n FROM unnest(%(words)s::text[], %(counts)s::int4[]) w(word, n) ORDER BY word
    ON CONFLICT (kb_id, term) DO UPDATE SET df = t.df + excluded.df
    """,
    "DELETE FROM kb_term WHERE kb_id = %(base)s AND term = ANY(%(words)s::text[]) AND df <= 0",
)

base = knowledge_base.c


def indexed_words(base_id: int, text: str, terms: Sequence[int]) -> set[str]:
    """The words under which a chunk with these terms is indexed."""
    held = set(terms)
    for version in range(VERSION, 1, -1):
        words = index_words(text, version)
        if {term_hash(base_id, word) for word in words} == held:
            return words
    return index_words(text, 1)


@dataclass(frozen=True, slots=True)
class _Change:
    """A chunk that is indexed under other words than now."""

    seq: int
    before: set[str]
    after: set[str]


class PostgresWordIndex:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def maintain(self) -> int:
        """Indexes anew what an older version has indexed; how many chunks. Safe beside other workers; beside those of
        a newer version it leaves that to them, whose words may be others."""
        if SchemaVersion(*(await self._database.fetch_one(READ) or (None,))).is_newer(head()):
            return 0
        old = select(base.id).where(base.old_words_from < base.old_words_to).order_by(base.id)
        changed = 0
        for (base_id,) in await self._database.fetch(old):
            while (step := await self._step(base_id)) is not None:
                changed += step
        if changed:
            log.info("%s chunks are indexed anew, under the words of this version", changed)
        return changed

    @retried
    async def _step(self, base_id: int) -> int | None:
        """The next chunks of a base; None when there are none left."""
        bounds = select(base.old_words_from, base.old_words_to).filter_by(id=base_id)
        row = await self._database.fetch_one(bounds)
        if row is None or row[0] >= row[1]:
            return None
        first, last = row
        given = {"base": base_id, "after": first, "last": last, "limit": BATCH}
        rows = await self._database.fetch(OLD, given)
        changes = await asyncio.to_thread(_changes, base_id, rows)
        reached = rows[-1][0] if len(rows) == BATCH else last
        async with self._database.transaction() as connection:
            locked = await (await connection.run(bounds.with_for_update())).fetchone()
            if locked is None or locked[0] != first:
                return 0  # another worker was faster
            await self._replace(connection, base_id, changes)
            await connection.run(update(knowledge_base).filter_by(id=base_id).values(old_words_from=reached))
        return len(changes)

    async def _replace(self, connection: Connection, base_id: int, changes: Sequence[_Change]) -> None:
        terms = [sorted({term_hash(base_id, word) for word in change.after}) for change in changes]
        columns = (
            [change.seq for change in changes],
            ["{" + ",".join(map(str, hashes)) + "}" for hashes in terms],
            [lex(dict.fromkeys(hashes, 1.0)).to_text() for hashes in terms],
        )
        cursor = await connection.execute(REPLACE, (*columns, base_id), prepare=False)
        there = {seq for (seq,) in await cursor.fetchall()}
        counts: Counter[str] = Counter()
        for change in changes:
            if change.seq in there:
                counts.update(change.after - change.before)
                counts.subtract(change.before - change.after)
        words = sorted(counts)
        given = {"base": base_id, "words": words, "counts": [counts[word] for word in words]}
        for statement in COUNT:
            await connection.execute(statement, given, prepare=False)


def _changes(base_id: int, rows: Sequence[tuple[int, Sequence[int], str, str]]) -> list[_Change]:
    changes: list[_Change] = []
    for seq, terms, context, text in rows:
        searchable = f"{context}\n{text}" if context else text
        before, after = indexed_words(base_id, searchable, terms), index_words(searchable)
        if before != after:
            changes.append(_Change(seq, before, after))
    return changes
