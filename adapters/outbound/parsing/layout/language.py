"""Whether the letters of a page are those of a language, or of a font whose characters are not known. Pure."""

import re
import unicodedata

from domain.knowledge.function_words import FUNCTION_WORDS

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
