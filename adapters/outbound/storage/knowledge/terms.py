"""Hashed terms, and sparse vectors of them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

from pgvector import SparseVector

LEX_DIMENSIONS = 1_000_000_000


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


def lex_of_terms(hashes: Iterable[int]) -> SparseVector:
    return lex(dict.fromkeys(hashes, 1.0))
