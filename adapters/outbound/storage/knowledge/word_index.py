"""The words under which chunks are indexed: those of an older version are brought up to date in the background.

A chunk's terms tell under which words it is indexed; so whoever counts them counts what is there, whichever version
indexed it. Search goes on meanwhile: each chunk changes over by itself, with the frequencies of its words.

Hashed terms, and sparse vectors of them.

Which words of a query a chunk holds, told by the server as one number instead of all its terms.

A chunk's `lex` has a one for each of its terms. Its inner product with a vector of distinct powers of two is
the sum of those whose term it holds: a mask. pgvector adds in single precision, which is exact to 24 bits.
"""

import asyncio
import logging
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from struct import pack

from pgvector import SparseVector
from sqlalchemy import select, update

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import LEX_DIMENSIONS, SQL, knowledge_base
from adapters.outbound.storage.migrate import READ, SchemaVersion, head
from adapters.outbound.storage.pool import Connection, Database
from domain.knowledge.index_words import VERSION, index_words

log = logging.getLogger(__name__)

BATCH = 200
"""Chunks that are looked at in one transaction: uploads of the same base wait for it."""


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
        parameters = {"base": base_id, "after": first, "last": last, "limit": BATCH}
        rows = await self._database.fetch(SQL["old_words"], parameters)
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
        cursor = await connection.execute(SQL["replace_words"], (*columns, base_id), prepare=False)
        there = {seq for (seq,) in await cursor.fetchall()}
        counts: Counter[str] = Counter()
        for change in (change for change in changes if change.seq in there):
            counts.update(change.after - change.before)
            counts.subtract(change.before - change.after)
        words = sorted(counts)
        parameters = {"base": base_id, "words": words, "counts": [*map(counts.__getitem__, words)]}
        for name in ("count_words", "drop_uncounted_words"):
            await connection.execute(SQL[name], parameters, prepare=False)


def _changes(base_id: int, rows: Sequence[tuple[int, Sequence[int], str, str]]) -> list[_Change]:
    changes: list[_Change] = []
    for seq, terms, context, text in rows:
        searchable = f"{context}\n{text}" if context else text
        before, after = indexed_words(base_id, searchable, terms), index_words(searchable)
        if before != after:
            changes.append(_Change(seq, before, after))
    return changes


_INT4 = 23  # its number in pg_type
_ONE = pack(">f", 1.0)


@lru_cache(16_384)
def term_hash(base_id: int, term: str) -> int:
    """A term of one base as a signed 32-bit number."""
    digest = blake2b(f"{base_id}:{term}".encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big", signed=True)


def lex_index(hashed: int) -> int:
    """The index of a term in sparse vectors, from 0; their text form counts from 1."""
    return (hashed & 0x7FFFFFFF) % LEX_DIMENSIONS


def lex(weights: Mapping[int, float]) -> SparseVector:
    """A sparse vector of weights by term hash."""
    entries: dict[int, float] = {}
    for hashed, weight in weights.items():
        index = lex_index(hashed)
        entries[index] = max(entries.get(index, 0.0), weight)
    return SparseVector(entries, LEX_DIMENSIONS)


def packed_terms(hashes: Sequence[int]) -> bytes:
    """Distinct hashes as an int4[] in binary form."""
    cells = array("i", [4]) * (2 * len(hashes))
    cells[1::2] = array("i", hashes)
    return pack(">iiIii", 1, 0, _INT4, len(hashes), 1) + _big_endian(cells)


def packed_lex(hashes: Iterable[int]) -> bytes:
    """A sparse vector with a one for each hash, in binary form."""
    places = array("i", sorted({lex_index(hashed) for hashed in hashes}))
    return pack(">iii", LEX_DIMENSIONS, len(places), 0) + _big_endian(places) + _ONE * len(places)


def _big_endian(numbers: "array[int]") -> bytes:
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers.tobytes()


BITS = 24


class HeldWords:
    """The masks to ask for, as sparse vectors, and what the answers mean."""

    def __init__(self, base_id: int, vocabulary: Iterable[str]) -> None:
        terms_at: dict[int, list[str]] = {}
        hashes: list[int] = []
        for term in sorted(vocabulary):
            hashed = term_hash(base_id, term)
            terms = terms_at.setdefault(lex_index(hashed), [])
            if not terms:
                hashes.append(hashed)
            terms.append(term)
        groups = [hashes[start : start + BITS] for start in range(0, len(hashes), BITS)] or [[]]
        self._terms = [[terms_at[lex_index(hashed)] for hashed in group] for group in groups]
        self.vectors = tuple(lex({hashed: 2.0**bit for bit, hashed in enumerate(group)}) for group in groups)
        self._known: dict[tuple[float, ...], frozenset[str]] = {}

    def of(self, masks: Sequence[float]) -> frozenset[str]:
        """The words of a chunk with these inner products, one for each vector."""
        key = tuple(masks)
        if key not in self._known:
            self._known[key] = frozenset(self._held(key))
        return self._known[key]

    def _held(self, masks: Sequence[float]) -> Iterable[str]:
        for terms, mask in zip(self._terms, masks, strict=True):
            bits = round(mask)
            for bit, words in enumerate(terms):
                if bits >> bit & 1:
                    yield from words
