"""Letters of a page: ligatures as plain letters in order, and text of fonts whose characters are unknown. Pure."""

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

from domain.knowledge.words import FUNCTION_WORDS

Extent = tuple[float, float]
"""Where a character begins and ends on its line."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_FORMS = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc]")
_ALEFS, _LAM = frozenset("\u0622\u0623\u0625\u0627\u0671"), "\u0644"


def runs_from_right(text: str) -> bool:
    """Return True if some of it is written from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def plain(text: str) -> str:
    """Presentation forms of Arabic and Hebrew letters and Latin ligatures as the letters that they stand for."""
    if text.isascii():
        return text
    return _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def in_order(text: str, extent: Callable[[int], Extent]) -> str:
    """Puts letters of one glyph back in order where a line from right to left was turned with them.

    Such letters share their place. Lam and alef stand in this order in all ligatures of the two; where they do
    not, other ligatures of the text were turned as well.
    """
    groups = _groups(text, extent)
    turned = sum(_votes(text[begin:end]) for begin, end in groups) > 0
    letters = list(text)
    for begin, end in groups:
        vote = _votes(text[begin:end])
        if vote > 0 or (turned and not vote):
            letters[begin:end] = reversed(letters[begin:end])
    return "".join(letters)


def _groups(text: str, extent: Callable[[int], Extent]) -> list[tuple[int, int]]:
    places = [(match.start(), extent(match.start())) for match in _RIGHT_TO_LEFT.finditer(text)]
    groups: list[tuple[int, int]] = []
    for (before, first), (after, second) in pairwise(places):
        if after != before + 1 or first != second or first[0] == first[1]:
            continue
        if groups and groups[-1][1] == after:
            groups[-1] = (groups[-1][0], after + 1)
        else:
            groups.append((before, after + 1))
    return groups


def _votes(letters: str) -> int:
    """How often alef stands before lam more than behind it."""
    pairs = list(pairwise(letters))
    before = sum(first in _ALEFS and second == _LAM for first, second in pairs)
    return before - sum(first == _LAM and second in _ALEFS for first, second in pairs)


_WORD = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS = 200
_FUNCTION_WORDS = 0.08
_LATIN_SHARE = 0.8
_LAST_LATIN = "\u024f"
_ALIKE = 0.5


def may_be_unreadable(text: str) -> bool:
    """Return True for a longer text of Latin letters with hardly any function word of the known languages."""
    letters = [char for char in text if char.isalpha()]
    if (
        len(letters) < _LEAST_LETTERS
        or sum(char <= _LAST_LATIN for char in letters) < len(letters) * _LATIN_SHARE
    ):
        return False
    words = words_of(text)
    return sum(word in FUNCTION_WORDS for word in words) < len(words) * _FUNCTION_WORDS


def are_alike(text: str, other: str) -> bool:
    """Return True where most words of the shorter text stand in the other one."""
    words, others = set(words_of(text)), set(words_of(other))
    fewer, more = sorted((words, others), key=len)
    return len(fewer & more) >= len(fewer) * _ALIKE


def words_of(text: str) -> list[str]:
    """The words of a text without accents, in lower case."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))
