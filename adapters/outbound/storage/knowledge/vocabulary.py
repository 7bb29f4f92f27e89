"""Words of a query in a base's vocabulary, their other forms, and the rows that the text search reads.

Other forms of a word have the same stem, or an article or a preposition in front. Chunks are indexed under the
words as they are written, so that another stemmer needs no other index. A form is looked for where the vocabulary, in
order, begins with a word's stem. The languages are those of the function words in the query and often in the base.

One statement for each query finds the rows. A small base, or a query whose words stand in few chunks, is answered
exactly. In a large base the rarest words are followed as far as a budget of postings reaches, and the next ones where
they stand together.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import sql

from adapters.outbound.storage.knowledge.tables import SQL
from adapters.outbound.storage.knowledge.word_index import HeldWords, lex, term_hash
from adapters.outbound.storage.pool import Connection
from domain.knowledge.rules import DEFAULT, SearchOptions
from domain.knowledge.text_match import Query, Statistics, unknown_words
from domain.knowledge.words import FUNCTION_WORDS

FUZZY_WORDS = 3
FUZZY_TERMS = 8
FORM_WORDS = 16
"""So many words of a query are looked for in other forms."""
FORM_TERMS = 100
"""So many words of the base that begin with a stem are looked at."""


async def statistics_of(connection: Connection, base_id: int, query: Query) -> Statistics:
    """What a base knows of a query's words, of their other forms, and of words that are like the unknown ones."""
    terms = [*query.terms, *mark_words()]
    rows = await _all(connection, sql.SQL(SQL["frequencies"]).format(base=base_id, terms=terms))
    known: dict[str, int] = {term: df for term, df in rows if term is not None}
    chunks = next((count for term, count in rows if term is None), 0)
    frequency = {term: known[term] for term in query.terms if term in known}
    asked, held = languages(query.words), languages_of_base(known, chunks)
    spoken = tuple(dict.fromkeys([*asked, *held]))
    forms = await _forms(connection, base_id, query, spoken, frequency)
    unknown = [word for word in unknown_words(query, frequency) if word not in forms][:FUZZY_WORDS]
    similar: dict[str, dict[str, float]] = {}
    if unknown:
        statement = sql.SQL(SQL["similar_words"]).format(words=unknown, base=base_id, limit=FUZZY_TERMS)
        for word, term, df, likeness in await _all(connection, statement):
            similar.setdefault(word, {})[term] = likeness
            frequency[term] = df
    return Statistics(chunks, frequency, similar, forms, asked or held)


async def _forms(
    connection: Connection,
    base_id: int,
    query: Query,
    spoken: Sequence[str],
    frequency: dict[str, int],
) -> dict[str, dict[str, float]]:
    """Other forms of the query's words in the base; their frequencies join the others."""
    inflected = [word for word in query.words if may_have_forms(word)][:FORM_WORDS]
    ranges = [(word, start) for word in inflected for start in beginnings(word, spoken)]
    if not ranges:
        return {}
    words, starts = map(list, zip(*ranges, strict=True))
    statement = sql.SQL(SQL["forms"]).format(words=words, starts=starts, base=base_id, limit=FORM_TERMS)
    counts: dict[str, dict[str, int]] = {}
    for word, term, df in await _all(connection, statement):
        counts.setdefault(word, {})[term] = df
    forms = {word: parts for word, terms in counts.items() if (parts := forms_of(word, terms, spoken))}
    for word, parts in forms.items():
        frequency.update({term: counts[word][term] for term in parts})
    return forms


async def _all(connection: Connection, statement: sql.Composed) -> list[Any]:
    cursor = await connection.execute(statement, binary=True, prepare=False)
    return await cursor.fetchall()


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
    """How much a word of the vocabulary counts as a form of another; 0 if it is no form."""
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


SMALL = 10_000
"""Up to so many chunks a scan of the whole base costs no more than following the postings of common words."""
POSTINGS = 2000
"""How many postings a query may touch in a large base: its rarest words, as many as fit."""
FEW = 3
"""In a small base postings are followed that are fewer than this part of its chunks."""
TELLING = 4
"""Words that weigh less than this part of the query's rarest do not count there: what holds nothing else scores
below a quarter, and is no match to speak of."""
ALL_COMMON = 4000
"""Where every word is common, almost any part of a base holds chunks as good as the rest."""
CANDIDATES = 12
"""So many times as many by weight hold the best by score."""


def best_by_weight(
    base_id: int,
    weights: Mapping[str, float],
    statistics: Statistics,
    held: HeldWords,
    options: SearchOptions = DEFAULT,
) -> sql.Composed:
    """The statement that finds the best chunks by the weights of the words that they hold, with their masks.

    `weights` names words that the base knows, at least one.
    """
    hashes = {term: term_hash(base_id, term) for term in weights}
    text, condition = _plan(weights, statistics, hashes)
    return sql.SQL(text).format(
        base=base_id,
        condition=condition,
        held=masks(held),
        most=ALL_COMMON,
        weights=lex({hashes[term]: weight for term, weight in weights.items()}).to_text(),
        limit=CANDIDATES * options.top_k,
    )


def masks(held: HeldWords) -> sql.Composable:
    """The columns that tell which words a chunk holds."""
    columns = [sql.SQL("-(lex <#> {}::sparsevec)").format(mask.to_text()) for mask in held.vectors]
    return sql.SQL(", ").join(columns)


def _plan(
    weights: Mapping[str, float], statistics: Statistics, hashes: Mapping[str, int]
) -> tuple[LiteralString, sql.Composable]:
    """The rarest words as far as their postings fit; and chunks that hold all of the next ones together."""
    if statistics.chunks <= SMALL:
        least = max(weights.values()) / TELLING
        telling = [term for term, weight in weights.items() if weight >= least]
        few = sum(statistics.frequency[term] for term in telling) * FEW <= statistics.chunks
        return (
            (SQL["best_of_ranked"], any_of([hashes[term] for term in telling]))
            if few
            else (SQL["best_of_whole"], sql.SQL(""))
        )
    condition = rarest(weights, statistics, hashes, POSTINGS)
    return (SQL["best_of_ranked"], condition) if condition else (SQL["best_of_first"], sql.SQL(""))


def rarest(
    weights: Mapping[str, float], statistics: Statistics, hashes: Mapping[str, int], budget: int
) -> sql.Composable | None:
    """Chunks that hold one of the rarest words, as far as the budget of postings reaches, or the next ones together.
    None if every word is common."""
    ranked = sorted(weights, key=lambda term: (statistics.frequency[term], term))
    rare: list[str] = []
    left = budget
    while ranked and statistics.frequency[ranked[0]] <= left:
        left -= statistics.frequency[ranked[0]]
        rare.append(ranked.pop(0))
    hash_of = hashes.__getitem__
    parts = [any_of([*map(hash_of, rare)])] if rare else []
    together, expected = _together(ranked, statistics, budget)
    if not rare and expected > max(budget, statistics.chunks / 50):
        return None
    if together and (expected <= budget or not rare):
        parts.append(sql.SQL("terms @> {}::int4[]").format([*map(hash_of, together)]))
    return sql.SQL(" OR ").join(parts)


def _together(ranked: Sequence[str], statistics: Statistics, budget: int) -> tuple[list[str], float]:
    """The fewest of the rarest remaining words whose common chunks fit the budget, were they independent."""
    chosen: list[str] = []
    expected = float(statistics.chunks)
    for term in ranked[:5]:
        chosen.append(term)
        expected *= statistics.frequency[term] / max(1, statistics.chunks)
        if len(chosen) >= 2 and expected <= budget:
            break
    return chosen, expected


def any_of(hashes: Sequence[int]) -> sql.Composable:
    return sql.SQL("terms && {}::int4[]").format(list(hashes))
