"""Looks for words in a text, in a time that grows with the text alone, whatever stands in it. Pure.

A pattern is one word or several that follow each other; `*` in it stands for any letters of a word. Case and
punctuation do not count.
"""

import re
from unicodedata import normalize

MOST_SEARCHED = 5000
"""Characters of a text that are looked at."""

_WORD = re.compile(r"\w+")
_PATTERN_WORD = re.compile(r"[\w*]+")


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()


def pattern_fault(pattern: str) -> str | None:
    """The fault of a pattern, or None."""
    return None if _WORD.search(pattern) else "must hold a word, such as refund or refund*"


class SearchedText:
    """The words of a text."""

    def __init__(self, text: str) -> None:
        self._tokens = _WORD.findall(_folded(text[:MOST_SEARCHED]))
        self._spaced = f" {' '.join(self._tokens)} "

    def holds(self, pattern: str) -> bool:
        parts = _PATTERN_WORD.findall(_folded(pattern))
        if "*" not in pattern:
            return f" {' '.join(parts)} " in self._spaced
        return any(
            all(map(_fits, parts, self._tokens[start : start + len(parts)]))
            for start in range(len(self._tokens) - len(parts) + 1)
        )


def _fits(pattern: str, word: str) -> bool:
    first, *others = pattern.split("*")
    if not others:
        return first == word
    last = others.pop()
    if len(word) < len(first) + len(last) or not (word.startswith(first) and word.endswith(last)):
        return False
    at, end = len(first), len(word) - len(last)
    for piece in others:
        at = word.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
