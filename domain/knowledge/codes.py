"""Codes, numbers and names with digits: the same code is found however its groups are written.

'INV-2024-00317', 'INV 2024 00317' and 'inv202400317' are one code, and so are an IBAN, a card's or a phone's number
with blanks and without. A chunk is indexed under its codes in one piece; a query asks for every way to read its own.
"""

import re
from collections.abc import Callable, Iterator

from domain.knowledge.words import MAX_WORD, normalise, unspaced_as_blanks, words_of_folded

Phrase = tuple[str, ...]

MAX_READINGS = 48
"""So many ways to read a query's groups as codes are looked for."""
_MOST_GROUPS = 10
_LEAST_CHARS, _LEAST_DIGITS = 4, 5
_UNMISTAKABLE_DIGITS = 6

_GROUP = r"[^\W\d_]{0,8}\d[^\W_]{0,39}"
_CAPITALS = r"[A-Z]{1,5}"
_GAP = r"(?:[ ./\-_#\u00a0\u2009\u202f\u2010-\u2013]|\) ?)"
_BETWEEN = re.compile(_GAP)
_GROUPED = re.compile(
    rf"(?:{_CAPITALS}{_GAP})?{_GROUP}(?:{_GAP}(?:{_CAPITALS}{_GAP}){{0,2}}{_GROUP})*(?:{_GAP}[A-Z]{{1,2}})?(?![^\W_])"
)
"""Groups with digits, with groups of capital letters in front, between and behind: 'GB29 NWBK 6016 1331'."""
_START = re.compile(rf"(?<![^\W_])(?:{_CAPITALS}{_GAP})?[^\W\d_]{{0,8}}$")
_REACH = 16
_TRUNK_ZERO = re.compile(r" ?\(0\) ?")
"""'+49 (0)30': nobody who dials from abroad writes it."""
_READABLE = re.compile(rf"[^\W_]{{1,{MAX_WORD}}}(?:{_GAP}[^\W_]{{1,{MAX_WORD}}})+")
"""What a query may mean as one code: groups of any kind."""
_SHORT_NUMBER = re.compile(r"(?<![^\W_])\d{1,4}(?![^\W_]|[.,]\d)")
_NUMBER_SIGNS = frozenset(["no", "nr", "num", "number", "nummer", "numero"])
_BEFORE = 40
_LINKING_WORDS = """
about after all and are around before between but during each else for from had has have into its last less
more most near next not only out over per since than that the them then there these they this those through
under until was were when where which while with within without aber als auch auf aus bei das dem den der
des die ein eine einem einen einer fur gegen ist mit nach oder seit uber und unter vom von vor war waren
wird zum zur aux avec dans des les par pour que qui sur une con del desde hasta las los mas para por una dal
dei della per sono com dos das mais nao ate het een naar van voor
"""
_LINKING = frozenset(_LINKING_WORDS.split())
_HINT = re.compile(
    r"[\d_\u00b2-\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\U00010a40-\U00010a43\U00010e60-\U00010e68\U00011052-\U0001105a\U0001f100-\U0001f10a]"
)
"""Digits, superscript and circled ones as well, and the underscore."""
_DIGIT = re.compile(r"\d")
_CAMEL = re.compile(r"(?<!\S)[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*(?!\S)")
_CAMEL_WORDS = re.compile(r"(?<![^\W_])[a-z]{2,}(?:[A-Z][a-z]{2,})+(?![^\W_])")
_SNAKE = re.compile(r"(?<![^\W_])[^\W_]+(?:_+[^\W_]+)+")
_PARTS = re.compile(r"[^\W_]+")

_MARKS = frozenset("_#/.-")
_EDGES = ".,;:!?()[]{}<>\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"


def joined(phrase: Phrase) -> str:
    """A code as one word: 'ERR-4711', 'ERR 4711' and 'err4711' are the same."""
    return "".join(phrase)[:MAX_WORD]


def is_gap(text: str) -> bool:
    """Return True if the text may stand between two groups of a code."""
    return _BETWEEN.fullmatch(text) is not None


def may_be_grouped(word: str) -> bool:
    """Return True if the word is long enough for a code and has a digit. Groups of other words are not searched."""
    return (
        len(word) >= (_LEAST_DIGITS if word.isdigit() else _LEAST_CHARS) and _DIGIT.search(word) is not None
    )


def identifiers(text: str, fold: Callable[[str], str] = normalise) -> list[Phrase]:
    """The codes and numbers that are written without blanks ('ERR-4711', 'E3413'), as their words."""
    phrases: list[Phrase] = []
    flat = " ".join(unspaced_as_blanks(text).split()) if _HINT.search(text) else ""
    end = 0
    while match := _HINT.search(flat, end):
        # What stands between blanks and holds a digit or an underscore, without punctuation around it.
        start = flat.rfind(" ", 0, match.start()) + 1
        end = flat.find(" ", match.end())
        end = len(flat) if end < 0 else end
        token = flat[start:end].strip(_EDGES)
        digits = sum(char.isdigit() for char in token)
        is_marked = any(char.isalpha() or char in _MARKS for char in token)
        if len(token) >= _LEAST_CHARS and digits >= (1 if is_marked else _LEAST_DIGITS):
            phrases.append(tuple(words_of_folded(fold(token))))
    return phrases


def code_words(text: str, folded: str) -> set[str]:
    """Under what a text is indexed beside its words: its codes in one piece, and its words with their numbers.

    `folded` is the text as `normalise` gives it.
    """
    if not _HINT.search(text):
        return set()
    written = [*identifiers(text), *(names_of_programs(text) if "_" in text else [])]
    entries = {joined(phrase) for phrase in written if len(phrase) > 1}
    for groups in _groups(text):
        entries.update(joined(phrase) for phrase in _readings_of_groups(groups))
    entries.update(joined(phrase) for phrase in numbered(folded))
    return entries


def _groups(text: str) -> Iterator[list[str]]:
    if "(0)" in text:
        text = _TRUNK_ZERO.sub(" ", text)
    end = 0
    while digit := _DIGIT.search(text, end):
        reach = max(end, digit.start() - _REACH)
        before = _START.search(text, reach, digit.start())
        match = _GROUPED.match(text, before.start()) if before else None
        end = match.end() if match else digit.end()
        groups = _PARTS.findall(match.group()) if match else []
        if 1 < len(groups) <= _MOST_GROUPS:
            yield groups


def _readings_of_groups(groups: list[str]) -> Iterator[Phrase]:
    """The whole; what begins with a group of letters inside; and four groups of four, as cards have them."""
    for start, group in enumerate(groups[:-1]):
        if start == 0 or group[0].isalpha():
            yield from _code(groups[start:])
            if group.isalpha():
                yield from _code(groups[start + 1 :])
        if all(len(four) == 4 for four in groups[start : start + 4]) and len(groups) > start + 4:
            yield from _code(groups[start : start + 4])


def _code(groups: list[str]) -> Iterator[Phrase]:
    code = "".join(groups)
    digits = sum(char.isdigit() for char in code)
    least = 2 if groups[0].isalpha() else _LEAST_DIGITS
    if len(groups) > 1 and digits >= least and _LEAST_CHARS <= len(code) <= MAX_WORD:
        yield tuple(normalise(group) for group in groups)


def numbered(folded: str) -> Iterator[Phrase]:
    """Words of a normalised text with the short number behind them: 'pump 12' and 'pump no. 12' as ('pump', '12')."""
    for match in _SHORT_NUMBER.finditer(folded):
        written = folded[max(0, match.start() - _BEFORE) : match.start()]
        before = written.rstrip(" #\u2116")
        word = before.rpartition(" ")[2]
        if word.strip(".") in _NUMBER_SIGNS:
            before = before[: -len(word)].rstrip()
            word = before.rpartition(" ")[2]
        if before != written and word.isalpha() and 3 <= len(word) <= 24 and word not in _LINKING:
            yield word, match.group()


def codes(text: str) -> list[Phrase]:
    """The codes of a query, as their words: those in one piece, names with capitals inside, and groups."""
    names = ((normalise(match.group()),) for match in _CAMEL.finditer(text))
    grouped = (reading for groups in _groups(text) for reading in _readings_of_groups(groups))
    return list(dict.fromkeys([*identifiers(text), *names_of_programs(text), *names, *grouped]))


def names_of_programs(text: str) -> list[Phrase]:
    """'read_line', 'readLine'."""
    names = [*_SNAKE.findall(text), *_CAMEL_WORDS.findall(text)]
    return [tuple(words_of_folded(normalise(name))) for name in names]


def is_unmistakable(phrase: Phrase) -> bool:
    """Return True if a phrase can only be a code: not 'IL-10' or '18-year-old', which are words of a subject as
    well."""
    code = "".join(phrase)
    digits = sum(char.isdigit() for char in code)
    return digits >= _UNMISTAKABLE_DIGITS or (digits >= _LEAST_CHARS - 1 and any(map(str.isalpha, code)))


def readings(text: str) -> list[Phrase]:
    """Every way to read neighbouring groups of a query as one code, the longest first."""
    phrases: dict[Phrase, None] = {}
    for match in _READABLE.finditer(text):
        groups = _PARTS.findall(normalise(match.group()))
        windows = (
            tuple(groups[start:end])
            for start in range(len(groups))
            for end in range(start + 2, min(len(groups), start + _MOST_GROUPS) + 1)
        )
        phrases.update(dict.fromkeys(window for window in windows if _may_be_code(window)))
    ranked = sorted(phrases, key=lambda phrase: -len(joined(phrase)))
    return ranked[:MAX_READINGS]


def _may_be_code(phrase: Phrase) -> bool:
    code = "".join(phrase)
    digits = sum(char.isdigit() for char in code)
    letters_fit = all(len(part) <= 5 or any(char.isdigit() for char in part) for part in phrase)
    return letters_fit and digits >= _LEAST_CHARS - 1 and _LEAST_CHARS <= len(code) <= MAX_WORD


def stands_in(phrase: Phrase, standing: list[str]) -> bool:
    """Return True if a code's characters stand side by side among a text's words, in any groups."""
    code = "".join(phrase)
    for start, first in enumerate(standing):
        if not code.startswith(first):
            continue
        spelled = ""
        for word in standing[start : start + _MOST_GROUPS * 2]:
            spelled += word
            if spelled == code:
                return True
            if not code.startswith(spelled):
                break
    return False
