"""Which words of a query a chunk holds, told by the server as one number instead of all its terms.

A chunk's `lex` has a one for each of its terms. Its inner product with a vector of distinct powers of two is
the sum of those whose term it holds: a mask. pgvector adds in single precision, which is exact to 24 bits.
"""

from collections.abc import Iterable, Sequence

from adapters.outbound.storage.knowledge.terms import lex, lex_index, term_hash

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
