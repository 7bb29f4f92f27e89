"""Brings the results of the text match and of the vector search into one order."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

EQUALS = 3
"""So many times as many chunks as are wanted are looked at more closely where their scores are equal."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hit:
    """What the two searches say of one chunk; a search that did not find it says 0. `cosine` is on the scale of
    `EmbeddingModel.similarity`. `exact`: how many of the query's words stand in it as they are written."""

    key: str
    text: float = 0.0
    cosine: float = 0.0
    exact: int = 0

    @property
    def similarity(self) -> float:
        """The higher of the two, from 0 to 1, to three decimals."""
        return round(min(1.0, max(0.0, self.text, self.cosine)), 3)

    @property
    def agreement(self) -> float:
        """What the other search says: it decides between equals."""
        return min(self.text, self.cosine)


def fuse(hits: Iterable[Hit]) -> list[Hit]:
    """The hits, one for each chunk, the most similar first; equals by the words as they are written, by the other
    search, then by key."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.key, hit)
        best[hit.key] = Hit(
            hit.key, max(known.text, hit.text), max(known.cosine, hit.cosine), max(known.exact, hit.exact)
        )
    return sorted(best.values(), key=lambda hit: (-hit.similarity, -hit.exact, -hit.agreement, hit.key))


@dataclass(frozen=True, slots=True)
class Score:
    """The text score of a chunk, and the file that it stands in."""

    key: str
    value: float
    file_id: int = 0


def leaders(scores: Iterable[Score], limit: int, per_file: int) -> list[str]:
    """The keys of the best `limit` scores above 0, `per_file` of each file, and of those that equal the last of a
    file or of all: at most `EQUALS` times as many."""
    ranked = sorted(
        (score for score in scores if score.value > 0),
        key=lambda score: (score.value, score.key),
        reverse=True,
    )
    wanted = list(of_each_file(ranked, per_file, _file_of))[:limit]
    least = wanted[-1].value if len(wanted) == limit else 0.0
    full = Counter(score.file_id for score in wanted)
    last = {score.file_id: score.value for score in wanted if full[score.file_id] == per_file}
    equal = [score for score in ranked if score.value >= max(least, last.get(score.file_id, 0.0)) - 1e-9]
    return [score.key for score in of_each_file(equal, EQUALS * per_file, _file_of)][: EQUALS * limit]


def of_each_file(ranked: Iterable[T], per_file: int, file_of: Callable[[T], object]) -> Iterator[T]:
    """The first `per_file` of each file, in their order."""
    seen: Counter[object] = Counter()
    for item in ranked:
        file = file_of(item)
        seen[file] += 1
        if seen[file] <= per_file:
            yield item


def _file_of(score: Score) -> int:
    return score.file_id
