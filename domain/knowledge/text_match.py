"""The text match: trigram similarity on a base's vocabulary, weighted by rarity.

A chunk's score is the share of the query's words (by inverse document frequency) that it holds, times the
rarity of the rarest of them. A word that no chunk of the base holds counts by its trigram similarity to the
chunk's words, so typing errors are found; a code or a number that stands in the chunk as one piece is strong
evidence whatever the other words are. Scores lie between 0 and 0.9 and compare with cosines: a score above
one half needs rare evidence. A code that cannot be mistaken, standing in the chunk as one piece, goes up to 1: no
text of similar meaning comes before it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from domain.knowledge.codes import (
    Phrase,
    codes,
    is_unmistakable,
    joined,
    names_of_programs,
    numbered,
    readings,
    stands_in,
)
from domain.knowledge.words import FUNCTION_WORDS, normalise, words

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
_MAX_PHRASES = 48
"""Codes, and words with a number, of one query."""
_LONGEST = 4_000
"""Characters of a query that are read for words and codes."""
_SMALL, _TELLS_NOTHING = 1000, 0.5
"""Bases of fewer chunks do not know which words are common; and what a word weighs at most there that tells nothing
of its subject."""
_SUBJECT, _COVERED = 2.0, 0.8
"""Words that weigh together as much as so many of the rarest are evidence, though none of them is rare; and the power
of the share of the query that they cover."""
_SEVERAL, _SEVERAL_OF = 20, 1000
"""A code counts fully in so many chunks, or in one of so many."""
_NAMED, _NAMED_ALONE, _NAMED_LEADING = 0.94, 0.97, 1.03
"""What a code counts by which nothing else is meant: in a question of any length, as the whole query, and the factor
for the chunk that it leads."""
_LEADING = 1.05
"""For the chunk that begins with a code, or has it in its heading: it is the one that tells what the code is."""
_BEGINNING = 8
"""Words that are a chunk's beginning."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the text match sees it: its distinct words in order, and its codes.

    `readings` are other ways to read its groups as codes; they count where a chunk is indexed under one. `numbered`
    are words with a short number behind them ('pump 12'). `certain` are codes by which nothing else is meant, or that
    are all of the query; of them `meant` are those that no common word is written like, as names in capitals are.
    """

    words: tuple[str, ...]
    codes: tuple[Phrase, ...]
    readings: tuple[Phrase, ...] = ()
    numbered: tuple[Phrase, ...] = ()
    certain: frozenset[Phrase] = frozenset()
    meant: frozenset[Phrase] = frozenset()

    @classmethod
    def of(cls, text: str) -> Query:
        text = text[:_LONGEST]
        distinct = tuple(dict.fromkeys(words(text)))[:_MAX_WORDS]
        strict = tuple(codes(text))[:_MAX_PHRASES]
        others = tuple(reading for reading in readings(text) if reading not in strict)
        pairs = dict.fromkeys(numbered(normalise(text)))
        names = names_of_programs(text)
        alone = [code for code in strict if set(distinct) <= set(code)]
        meant = frozenset(
            [*filter(is_unmistakable, [*strict, *others]), *alone, *(name for name in names if len(name) > 1)]
        )
        return cls(
            distinct,
            strict,
            others,
            tuple(pair for pair in pairs if pair not in strict)[:_MAX_PHRASES],
            meant.union(names),
            meant,
        )

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        return self.codes + self.readings + self.numbered

    @property
    def terms(self) -> tuple[str, ...]:
        """All entries of the dictionary that the query asks for: words and codes in one piece."""
        return tuple(dict.fromkeys([*self.words, *(joined(phrase) for phrase in self.phrases)]))


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a query's words in one base. `frequency` counts the chunks that hold a word; a word without an
    entry is unknown. `similar` maps an unknown word to the similar words of the base, with their trigram
    similarity. `forms` maps a word to its other forms in the base (same stem, with an article), with their weights.
    `languages`: the languages of the query, else of the base; empty if both are unknown."""

    chunks: int
    frequency: Mapping[str, int]
    similar: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    forms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    languages: tuple[str, ...] = ()

    def idf(self, frequency: int) -> float:
        known = min(frequency, self.chunks)
        return math.log(1 + (self.chunks - known + 0.5) / (known + 0.5))


def unknown_words(query: Query, frequency: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(word for word in query.words if not frequency.get(word) and len(word) >= FUZZY_LENGTH)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Which of the query's codes and numbered words stand in a chunk as one piece; `leading`: one stands where the
    chunk begins, or in its heading."""

    phrases: tuple[Phrase, ...] = ()
    leading: bool = False


NO_EVIDENCE = Evidence()


class TextMatch:
    """Scores chunks for one query in one base; `alone` where vectors tell little or nothing beside it."""

    def __init__(self, query: Query, statistics: Statistics, *, alone: bool = False) -> None:
        self._query = query
        self._statistics = statistics
        self._has_subject = any(word not in FUNCTION_WORDS for word in query.words)
        self._idf = {word: self._word_idf(word) for word in query.words}
        self._worth = {word: self._worth_of(word) for word in query.words}
        self._total = sum(self._idf.values())
        self._rarest = statistics.idf(1)
        self._phrases = _told_apart(query, statistics)
        asked_for_itself = alone or len(query.words) <= _FEW_WORDS
        least = 0.0 if asked_for_itself else min(_LEAST_RAREST, 2 * self._rarest)
        self._rare = max(self._rarest, least)

    @property
    def vocabulary(self) -> frozenset[str]:
        """The words that bear on the score: a chunk is described by those of them that it holds."""
        others = (other for worth in self._worth.values() for other in worth)
        return frozenset([*self._query.words, *map(joined, self._phrases), *others])

    @property
    def has_phrases(self) -> bool:
        """Return True if a chunk's text may add evidence to its indexed words."""
        return any(len(phrase) > 1 for phrase in self._phrases)

    def weights(self) -> dict[str, float]:
        """Maps each word of the vocabulary to the coverage that it adds to a chunk, to find candidates."""
        weights = dict(self._idf)
        for worth in self._worth.values():
            for other, weight in worth.items():
                weights[other] = max(weights.get(other, 0.0), weight)
        for phrase in self._phrases:
            code = joined(phrase)
            weights[code] = max(weights.get(code, 0.0), self._idf_of(phrase, {}))
        return weights

    def indexed(self, held: Collection[str]) -> Evidence:
        """Returns the evidence for a chunk from its indexed words."""
        return Evidence(tuple(phrase for phrase in self._phrases if joined(phrase) in held))

    def possible(self, held: Collection[str]) -> Evidence:
        """What may stand in a chunk that holds these words."""
        readings = self._query.readings
        return Evidence(
            tuple(
                phrase
                for phrase in self._phrases
                if joined(phrase) in held or (phrase not in readings and all(word in held for word in phrase))
            )
        )

    def evidence(self, held: Collection[str], context: str, text: str) -> Evidence:
        """What stands in a chunk, now that its text is at hand."""
        possible = self.possible(held).phrases
        if not possible:
            return NO_EVIDENCE
        standing = words(text)
        heading = words(context.rpartition("\n")[2])
        around = [*words(context), *standing]
        there = [phrase for phrase in possible if joined(phrase) in held or stands_in(phrase, around)]
        beginning = [*heading, *standing[:_BEGINNING]]
        leading = any(stands_in(phrase, beginning) for phrase in there if phrase not in self._query.numbered)
        return Evidence(tuple(there), leading)

    def score(
        self,
        held: Collection[str],
        evidence: Evidence = NO_EVIDENCE,
        phrase_frequency: Mapping[Phrase, int] | None = None,
    ) -> float:
        """The score of a chunk that holds the words `held`."""
        if not self._total or not self._rarest:
            return 0.0
        matched = [self._matched(word, held) for word in self._query.words]
        covered = sum(matched) / self._total
        rarity = min(1.0, max(matched) / self._rare)
        seen = phrase_frequency or {}
        code = pair = named = 0.0
        for phrase in evidence.phrases:
            if phrase in self._query.numbered:
                pair = max(pair, min(1.0, self._idf_of(phrase, seen) / self._rare))
            else:
                code = max(code, identity := self._identity(phrase, seen))
                named = max(named, identity) if phrase in self._query.meant else named
        if evidence.leading:
            code, named = code * _LEADING, named * _NAMED_LEADING
        several = math.pow(covered, _COVERED) * min(1.0, sum(matched) / (_SUBJECT * self._rare)) ** 2
        certain = min(1.0, named * (_NAMED + (_NAMED_ALONE - _NAMED) * covered))
        common = max(covered * rarity, several, code * (0.6 + 0.4 * covered), pair * (0.2 + 0.8 * covered))
        return max(certain, _WEIGHT * common)

    def _word_idf(self, word: str) -> float:
        """A word that stands in the base in other forms alone is as rare as they are; in a small base one that tells
        nothing is never rare, unless nothing else is asked."""
        frequency, forms = self._statistics.frequency, self._statistics.forms.get(word, {})
        idf = self._statistics.idf(frequency.get(word) or sum(frequency.get(form, 0) for form in forms))
        small = self._statistics.chunks < _SMALL and self._has_subject
        return min(idf, _TELLS_NOTHING) if small and word in FUNCTION_WORDS else idf

    def _worth_of(self, word: str) -> dict[str, float]:
        """What a chunk's words count that stand for a word of the query."""
        idf, statistics = self._idf[word], self._statistics
        worth = {
            other: idf * math.sqrt(like)
            for other, like in statistics.similar.get(word, {}).items()
            if like >= FUZZY_FLOOR
        }
        for form, part in statistics.forms.get(word, {}).items():
            worth[form] = part * min(idf, statistics.idf(statistics.frequency.get(form, 0)))
        return worth

    def _matched(self, word: str, held: Collection[str]) -> float:
        if word in held:
            return self._idf[word]
        return max((worth for other, worth in self._worth[word].items() if other in held), default=0.0)

    def _identity(self, phrase: Phrase, seen: Mapping[Phrase, int]) -> float:
        """A code that several chunks hold counts fully for each, up to a part of the base."""
        if phrase not in self._query.certain:
            return min(1.0, self._idf_of(phrase, seen) / self._rarest)
        several = max(_SEVERAL, self._statistics.chunks // _SEVERAL_OF)
        return min(1.0, self._idf_of(phrase, seen) / self._statistics.idf(several))

    def _idf_of(self, phrase: Phrase, seen: Mapping[Phrase, int]) -> float:
        frequency = max(seen.get(phrase, 0), self._statistics.frequency.get(joined(phrase), 0))
        return self._statistics.idf(max(1, frequency))


def _told_apart(query: Query, statistics: Statistics) -> tuple[Phrase, ...]:
    """The phrases that count: readings that the base knows, none that is a part of a longer one that it knows."""
    known = [phrase for phrase in query.phrases if statistics.frequency.get(joined(phrase))]
    counting = [phrase for phrase in query.phrases if phrase not in query.readings or phrase in known]
    return tuple(phrase for phrase in counting if not any(_is_part(phrase, longer) for longer in known))


def _is_part(phrase: Phrase, longer: Phrase) -> bool:
    size = len(phrase)
    return size < len(longer) and any(
        longer[start : start + size] == phrase for start in range(len(longer) - size + 1)
    )
