"""Fuses the ranks of the word search and the vector search, and explains the result."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from domain.knowledge.index_words import highlights
from domain.knowledge.text_match import Statistics, TextMatch
from ports.knowledge_storage import Passage

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
    leading = list(of_each_file(ranked, per_file, _file_of))[:limit]
    least = leading[-1].value if len(leading) == limit else 0.0
    full = Counter(score.file_id for score in leading)
    last = {score.file_id: score.value for score in leading if full[score.file_id] == per_file}
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


TELLING = 4
"""Words that weigh less than this part of the query's weightiest are not highlighted."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the query: how many chunks of the base hold it, its other forms there, and, where it has none,
    words that are like it."""

    word: str
    chunks: int
    similar: Sequence[str]


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    """A chunk that one of the two searches found.

    `rank` is its place in the answer of the search, `text_rank` and `vector_rank` those in what each of the two found
    alone, from 1, None where it is not among the ten best. `vector_score` is None where vectors were not compared.
    `highlights` are characters of the text, first and behind the last.
    """

    chunk_id: str
    text: str
    file_hash: str
    file_name: str
    metadata: str | None
    similarity: float
    text_score: float
    vector_score: float | None
    rank: int | None
    text_rank: int | None
    vector_rank: int | None
    highlights: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of a search first, then what only one of the two searches found. `by_meaning`: vectors were
    compared; they are not for scripts that the model does not know, and while it is being prepared."""

    words: Sequence[QueryWord]
    hits: Sequence[ExplainedHit]
    by_meaning: bool


def query_words(words: Sequence[str], statistics: Statistics) -> list[QueryWord]:
    return [
        QueryWord(
            word,
            statistics.frequency.get(word, 0),
            [*statistics.forms.get(word, {}), *statistics.similar.get(word, {})],
        )
        for word in words
    ]


def explained(
    fused: Sequence[Hit],
    hits: Sequence[Hit],
    nearest: Sequence[str],
    passages: Mapping[str, Passage],
    wanted: frozenset[str],
    limit: int,
    *,
    by_meaning: bool,
) -> list[ExplainedHit]:
    """`fused`: the answer; `hits`: all candidates; `nearest`: the results of the vector search alone, ordered;
    `wanted`: the words to highlight; `limit`: the number of results that are explained."""
    by_text = sorted((hit for hit in hits if hit.text > 0), key=lambda hit: (-hit.text, hit.key))
    ranked_keys = [[hit.key for hit in fused], [hit.key for hit in by_text], nearest]
    ranks = [{key: rank for rank, key in enumerate(keys[:limit], 1)} for keys in ranked_keys]
    scores = {hit.key: hit for hit in hits}
    shown = dict.fromkeys(key for key in chain.from_iterable(ranks) if key in scores)
    return [
        _explained(scores[key], passages[key], [ranked.get(key) for ranked in ranks], wanted, by_meaning)
        for key in shown
    ]


def _explained(
    hit: Hit, passage: Passage, ranks: Sequence[int | None], wanted: frozenset[str], by_meaning: bool
) -> ExplainedHit:
    rank, text_rank, vector_rank = ranks
    return ExplainedHit(
        passage.chunk_id,
        passage.text,
        passage.file_hash,
        passage.file_name,
        passage.metadata,
        hit.similarity,
        round(hit.text, 3),
        round(hit.cosine, 3) if by_meaning else None,
        rank,
        text_rank,
        vector_rank,
        highlights(passage.text, wanted),
    )


def telling_words(match: TextMatch, statistics: Statistics) -> frozenset[str]:
    weights = {word: weight for word, weight in match.weights().items() if statistics.frequency.get(word)}
    least = max(weights.values(), default=0.0) / TELLING
    return frozenset(word for word, weight in weights.items() if weight >= least)
