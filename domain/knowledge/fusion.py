"""Brings the results of the text match and of the vector search into one order."""

from collections.abc import Iterable
from dataclasses import dataclass

MAX_RESULTS = 10


@dataclass(frozen=True, slots=True)
class Hit:
    """What the two searches say of one chunk; a search that did not find it says 0."""

    key: str
    text: float = 0.0
    cosine: float = 0.0

    @property
    def similarity(self) -> float:
        """The higher of the two, from 0 to 1, to three decimals."""
        return round(min(1.0, max(0.0, self.text, self.cosine)), 3)

    @property
    def agreement(self) -> float:
        """What the other search says: it decides between equals."""
        return min(self.text, self.cosine)


def fuse(hits: Iterable[Hit], limit: int = MAX_RESULTS) -> list[Hit]:
    """The best hits, one for each chunk, the most similar first; equals by the other search, then by key."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.key, hit)
        best[hit.key] = Hit(hit.key, max(known.text, hit.text), max(known.cosine, hit.cosine))
    ranked = sorted(best.values(), key=lambda hit: (-hit.similarity, -hit.agreement, hit.key))
    return ranked[:limit]


def leaders(scores: Iterable[tuple[str, float]], limit: int, most: int) -> list[str]:
    """The keys of the best `limit` scores above 0, and of all that equal the last of them, at most `most`."""
    ranked = sorted(((score, key) for key, score in scores if score > 0), reverse=True)
    if len(ranked) <= limit:
        return [key for _, key in ranked]
    last = ranked[limit - 1][0]
    return [key for score, key in ranked[:most] if score >= last - 1e-9]
