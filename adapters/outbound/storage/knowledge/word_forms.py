"""Other forms of a query's words in a base's vocabulary: of the same stem, with an article or a preposition.

Chunks are indexed under the words as they are written; so another stemmer needs no other index. A form is looked for
where the vocabulary, in order, begins with a word's stem. Languages are told by function words: those of the
query, and those that stand in the base often.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from domain.knowledge.words import FUNCTION_WORDS

if TYPE_CHECKING:
    import snowballstemmer

PART = 0.8
"""What another form counts of the word itself."""
ARTICLE_PART = 0.95
"""What a word counts that differs by an Arabic article or preposition alone."""
LEAST_STEM = 3

MARKS: Mapping[str, tuple[str, ...]] = {
    "english": ("the", "of", "and", "is", "what", "how", "which", "does"),
    "german": ("der", "die", "und", "nicht", "ist", "wie", "das", "wird"),
    "french": ("les", "est", "dans", "une", "pour", "quel", "du", "et"),
    "spanish": ("los", "el", "una", "por", "como", "las", "del", "y"),
    "italian": ("il", "che", "della", "di", "sono", "gli", "per", "quale"),
    "portuguese": ("os", "uma", "nao", "em", "com", "do", "da", "qual"),
    "dutch": ("het", "een", "van", "niet", "zijn", "wordt", "hoe", "voor"),
    "swedish": ("och", "att", "som", "inte", "ar", "det", "hur", "for"),
    "danish": ("og", "ikke", "til", "af", "det", "er", "hvordan", "på"),
    "norwegian": ("og", "ikke", "til", "av", "det", "er", "hvordan", "som"),
    "finnish": ("ja", "ei", "etta", "mita", "miten", "voi", "ole", "tai"),
    "hungarian": ("az", "nem", "es", "hogy", "egy", "van", "mi", "mennyi"),
    "romanian": ("si", "nu", "este", "care", "pentru", "din", "sunt", "cum"),
    "turkish": ("ve", "bir", "bu", "icin", "ile", "nedir", "nasil", "da"),
    "polish": ("nie", "jest", "oraz", "jak", "dla", "przez", "ktory", "sie"),
    "czech": ("je", "ze", "jak", "pro", "ktery", "nebo", "jsou", "se"),
}
"""Words that tell the languages in Latin script, as they are indexed."""
_TELLING = 2
"""So many of a language's words tell it."""
_SCRIPTS = (("\u0400", "\u04ff", "russian"), ("\u0370", "\u03ff", "greek"), ("\u0900", "\u097f", "hindi"))
_ARABIC = ("\u0620", "\u06ff")
_ARABIC_PREFIXES = (
    "", "\u0627\u0644", "\u0648", "\u0648\u0627\u0644", "\u0628", "\u0628\u0627\u0644", "\u0644", "\u0644\u0644",
    "\u0641", "\u0641\u0627\u0644", "\u0643", "\u0643\u0627\u0644", "\u0648\u0628", "\u0648\u0628\u0627\u0644",
    "\u0648\u0644", "\u0648\u0644\u0644",
)  # fmt: skip
"""The article, 'and', 'with', 'for', 'so', 'like', and several of them."""
_ARABIC_SUFFIXES = (
    "\u0647\u0627", "\u0627\u0646", "\u0627\u062a", "\u0648\u0646", "\u064a\u0646", "\u064a\u0647", "\u0647\u0645",
    "\u0647", "\u064a", "\u0627",
)  # fmt: skip
"""As light stemming takes them off: plurals, the feminine, possession."""

_LONGEST_FIRST = sorted((prefix for prefix in _ARABIC_PREFIXES if prefix), key=len, reverse=True)


_MOST = 8
_LONGER = 6


def may_have_forms(word: str) -> bool:
    return len(word) >= LEAST_STEM and word.isalpha() and word not in FUNCTION_WORDS


def forms_of(word: str, terms: Mapping[str, int], spoken: Sequence[str]) -> dict[str, float]:
    """The commonest of a base's words that are forms of a word, with how much they count. `terms`: their chunks."""
    near = (term for term in terms if term != word and abs(len(term) - len(word)) <= _LONGER)
    parts = {term: part for term in near if (part := part_of(word, term, spoken))}
    commonest = sorted(parts, key=lambda term: (-terms[term], term))[:_MOST]
    return {term: parts[term] for term in commonest}


@lru_cache(1)
def mark_words() -> list[str]:
    return sorted({word for words in MARKS.values() for word in words})


def languages(words: Collection[str]) -> tuple[str, ...]:
    """The languages in Latin script that a text shows by its words."""
    shown = set(words)
    return tuple(language for language, marks in MARKS.items() if len(shown.intersection(marks)) >= _TELLING)


def languages_of_base(frequency: Mapping[str, int], chunks: int) -> tuple[str, ...]:
    """Those that every tenth chunk shows."""
    return languages([word for word in mark_words() if frequency.get(word, 0) * 10 >= max(1, chunks)])


def beginnings(word: str, spoken: Sequence[str]) -> list[str]:
    """How forms of a word may begin in the vocabulary."""
    if _is_between(word, *_ARABIC):
        stems = {_without_suffixes(reading) for reading in _readings(word)}
        return _shortest(prefix + stem for stem in stems for prefix in _ARABIC_PREFIXES)
    stems = {_stem(language, word) for language in _languages_of(word, spoken)}
    # A stem ends in i where the word ends in y; without its last letter both begin with it.
    bare = {stem[:-1] if stem.endswith("i") else stem for stem in stems}
    return _shortest(stem for stem in bare if len(stem) >= LEAST_STEM)


def part_of(word: str, term: str, spoken: Sequence[str]) -> float:
    """How much a word of the vocabulary counts as a form of another; 0 where it is none."""
    if _is_between(word, *_ARABIC):
        asked, standing = _readings(word), _readings(term)
        if asked & standing:
            return ARTICLE_PART
        return PART if set(map(_without_suffixes, asked)) & set(map(_without_suffixes, standing)) else 0.0
    same = (_stem(language, word) == _stem(language, term) for language in _languages_of(word, spoken))
    return PART if any(same) else 0.0


def _languages_of(word: str, spoken: Sequence[str]) -> Sequence[str]:
    if word.isascii():
        return spoken
    scripts = [language for first, last, language in _SCRIPTS if _is_between(word, first, last)]
    return scripts or spoken


def _is_between(word: str, first: str, last: str) -> bool:
    return first <= word[0] <= last


@lru_cache(100_000)
def _stem(language: str, word: str) -> str:
    return str(_stemmer(language).stemWord(word))


@lru_cache(None)
def _stemmer(language: str) -> "snowballstemmer.stemmer":
    import snowballstemmer  # it loads all its languages

    return snowballstemmer.stemmer(language)


def _readings(word: str) -> set[str]:
    """An Arabic word as it is written and without its prefixes. A noun may begin with the letter of a prefix: only
    the other word tells."""
    for prefix in _LONGEST_FIRST:
        if word.startswith(prefix) and len(word) - len(prefix) >= LEAST_STEM:
            return {word, word[len(prefix) :]}
    return {word}


def _without_suffixes(stem: str) -> str:
    """Light stemming (after Larkey, Ballesteros and Connell), of a word without prefixes."""
    for suffix in _ARABIC_SUFFIXES:
        if stem.endswith(suffix) and len(stem) - len(suffix) >= LEAST_STEM:
            stem = stem[: -len(suffix)]
    return stem


def _shortest(stems: Iterable[str]) -> list[str]:
    """The stems of which no other is the beginning."""
    chosen: list[str] = []
    for stem in sorted(stems):
        if not chosen or not stem.startswith(chosen[-1]):
            chosen.append(stem)
    return chosen
