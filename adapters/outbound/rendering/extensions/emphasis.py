"""Delimiters inside of a word or a number are text: `2*3*4`, `foo**bar**baz`.

CommonMark says so of `_` alone (https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis). Where a platform
shows no emphasis, a product would lose its signs.
"""

from __future__ import annotations

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, emphasis, strikethrough

_RUN = re.compile(r"\*+|~+")
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer; as Chinese and Japanese they are written without spaces between words."""


def keep_delimiters_in_words(parser: MarkdownIt) -> None:
    """Teaches a parser that a delimiter run between letters or digits begins nothing.

    `**` and `~~` may end there what began at the edge of a word (`**API**s`), but `**` not beside a digit.
    """
    parser.inline.ruler.before("strikethrough", "delimiters_in_words", _delimiters_in_words)


def _delimiters_in_words(state: StateInline, silent: bool) -> bool:
    run = None if silent else _RUN.match(state.src, state.pos, state.posMax)
    if run is None or not _is_in_word(state.src, run.start(), run.end(), state.posMax):
        return False
    if not _may_close(run.group(), state.src[run.start() - 1], state.src[run.end()]):
        state.pending += run.group()
        state.pos = run.end()
        return True
    first = len(state.delimiters)
    taken: bool = (emphasis if run.group()[0] == "*" else strikethrough).tokenize(state, silent)
    for delimiter in state.delimiters[first:]:
        delimiter.open = False
    return taken


def _is_in_word(text: str, start: int, end: int, limit: int) -> bool:
    if start == 0 or end >= limit:
        return False
    around = (text[start - 1], text[end])
    return all(map(str.isalnum, around)) and not any(map(_is_unspaced, around))


def _is_unspaced(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F") or _NO_SPACES.match(char) is not None


def _may_close(run: str, before: str, after: str) -> bool:
    return len(run) > 1 and (run[0] == "~" or (before.isalpha() and after.isalpha()))
