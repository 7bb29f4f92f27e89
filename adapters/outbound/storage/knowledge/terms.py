"""Hashed terms, and sparse vectors of them."""

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from struct import pack

from pgvector import SparseVector

LEX_DIMENSIONS = 1_000_000_000
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
