"""The text match: trigram similarity on a base's vocabulary, weighted by rarity.

A chunk's score is the share of the query's words (by inverse document frequency) that it holds, times the
rarity of the rarest of them. A word that no chunk of the base holds counts by its trigram similarity to the
chunk's words, so typing errors are found; a code or a number that stands in the chunk as one piece is strong
evidence whatever the other words are. Scores lie between 0 and 0.9 and compare with cosines: a score above
one half needs rare evidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.knowledge.words import identifiers, joined, words

FUZZY_FLOOR = 0.35
"""Trigram similarities below it are no similarity."""
FUZZY_LENGTH = 4
"""Shorter words are not matched by similarity."""
_WEIGHT = 0.9
_LEAST_RAREST = 5.0
"""What a word must weigh to be rare whatever the base's size: in fewer than some 220 chunks many words stand in one
alone, 'where' and 'how' as well. No score is more than halved by it, that of an identifier not at all."""
_FEW_WORDS = 2
"""So few words are a name or a term that is looked for itself, not a question."""
_MAX_WORDS = 64

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the text match sees it: its distinct words in order, and its identifiers."""

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]

    @classmethod
    def of(cls, text: str) -> Query:
        distinct = tuple(dict.fromkeys(words(text)))[:_MAX_WORDS]
        return cls(distinct, tuple(dict.fromkeys(identifiers(text))))

    @property
    def terms(self) -> tuple[str, ...]:
        """All entries of the dictionary that the query asks for: words and identifiers in one piece."""
        return tuple(dict.fromkeys([*self.words, *(joined(phrase) for phrase in self.phrases)]))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of a query's words in one base.

    `frequency` counts the chunks that hold a word; a word without an entry is unknown. `similar` gives for
    an unknown word the words of the base that are like it, with their trigram similarity.
    """

    chunks: int
    frequency: Mapping[str, int]
    similar: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def idf(self, frequency: int) -> float:
        known = min(frequency, self.chunks)
        return math.log(1 + (self.chunks - known + 0.5) / (known + 0.5))


def unknown_words(query: Query, frequency: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(word for word in query.words if not frequency.get(word) and len(word) >= FUZZY_LENGTH)


class TextMatch:
    """Scores chunks for one query in one base; `alone` where no vectors are compared beside it."""

    def __init__(self, query: Query, statistics: Statistics, *, alone: bool = False) -> None:
        self._query = query
        self._statistics = statistics
        self._similar = {
            word: {other: math.sqrt(like) for other, like in similar.items() if like >= FUZZY_FLOOR}
            for word, similar in statistics.similar.items()
        }
        self._idf = {word: statistics.idf(statistics.frequency.get(word, 0)) for word in query.words}
        self._total = sum(self._idf.values())
        self._rarest = statistics.idf(1)
        asked_for_itself = alone or len(query.words) <= _FEW_WORDS
        least = 0.0 if asked_for_itself else min(_LEAST_RAREST, 2 * self._rarest)
        self._rare = max(self._rarest, least)

    @property
    def vocabulary(self) -> frozenset[str]:
        """The words that bear on the score: a chunk is described by those of them that it holds."""
        like = (other for similar in self._similar.values() for other in similar)
        return frozenset([*self._query.terms, *like])

    def weights(self) -> dict[str, float]:
        """What each word of the vocabulary adds to a chunk's coverage: for finding candidates."""
        weights = dict(self._idf)
        for word, similar in self._similar.items():
            for other, like in similar.items():
                weights[other] = max(weights.get(other, 0.0), self._idf[word] * like)
        for phrase in self._query.phrases:
            whole = joined(phrase)
            weights[whole] = max(weights.get(whole, 0.0), self._phrase_idf(phrase, {}))
        return weights

    def score(
        self,
        held: Collection[str],
        phrases: Iterable[Phrase],
        phrase_frequency: Mapping[Phrase, int] | None = None,
    ) -> float:
        """The score of a chunk that holds the words `held` and, as one piece, the identifiers `phrases`."""
        if not self._total or not self._rarest:
            return 0.0
        matched = {word: self._match(word, held) for word in self._query.words}
        covered = sum(self._idf[word] * part for word, part in matched.items()) / self._total
        rarity = min(1.0, max(self._idf[word] * part for word, part in matched.items()) / self._rare)
        exact = max((self._phrase_idf(phrase, phrase_frequency or {}) for phrase in phrases), default=0.0)
        identity = min(1.0, exact / self._rarest)
        return _WEIGHT * max(covered * rarity, identity * (0.6 + 0.4 * covered))

    def _match(self, word: str, held: Collection[str]) -> float:
        if word in held:
            return 1.0
        similar = self._similar.get(word, {})
        return max((like for other, like in similar.items() if other in held), default=0.0)

    def _phrase_idf(self, phrase: Phrase, phrase_frequency: Mapping[Phrase, int]) -> float:
        seen = max(phrase_frequency.get(phrase, 0), self._statistics.frequency.get(joined(phrase), 0))
        return self._statistics.idf(max(1, seen))


def whole_phrases(query: Query, held: Collection[str]) -> list[Phrase]:
    """The identifiers that a chunk holding these words is indexed under in one piece."""
    return [phrase for phrase in query.phrases if joined(phrase) in held]


def possible_phrases(query: Query, held: Collection[str]) -> list[Phrase]:
    """The identifiers that a chunk holding these words may hold as one piece."""
    return [
        phrase for phrase in query.phrases if joined(phrase) in held or all(word in held for word in phrase)
    ]


def phrases_in(query: Query, held: Collection[str], text: str) -> list[Phrase]:
    """The identifiers whose words stand side by side in the text, or that are indexed in one piece."""
    possible = possible_phrases(query, held)
    unsure = [phrase for phrase in possible if joined(phrase) not in held]
    standing = words(text) if unsure else []
    return [phrase for phrase in possible if phrase not in unsure or _adjacent(phrase, standing)]


def _adjacent(phrase: Phrase, standing: Sequence[str]) -> bool:
    size = len(phrase)
    return any(
        tuple(standing[i : i + size]) == phrase for i, word in enumerate(standing) if word == phrase[0]
    )
