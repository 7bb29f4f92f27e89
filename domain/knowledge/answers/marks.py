"""The marks `[1]` by which an answer cites passages, as models and documents write them. Pure.

All of it takes time that grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_UNSEEN = r"[\s*_^\u00ad\u200b-\u200f\u2060-\u2064\ufeff]{0,20}"
"""What may stand in a mark beside its numbers: blanks, emphasis, the sign of a footnote, characters without width."""
OPEN = r"(?:\\?\[|&(?:#0{0,4}91|#[xX]0{0,4}5[bB]|lsqb|lbrack);|[\uff3b\u3014\u3016\u27e6])"
CLOSE = r"(?:\\?\]|&(?:#0{0,4}93|#[xX]0{0,4}5[dD]|rsqb|rbrack);|[\uff3d\u3015\u3017\u27e7])"
"""Brackets that people take for those of a mark: escaped, as entities, fullwidth and others of East Asia."""
_NUMBERS = rf"\d{{1,3}}(?:{_UNSEEN}[,;\u2013-]{_UNSEEN}\d{{1,3}}){{0,9}}"
_BEGINNINGS = "![<\\&\uff3b\u3014\u3016\u27e6\u3010"
_LONGEST_MARK = 600
_STRETCH = 10_000
"""Characters."""
_LONGEST_RANGE = 30
"""Numbers in a mark such as `[2-4]`: more passages there are in no answer."""
MARK = re.compile(
    r"(?P<gap>(?:(?<![ \t])[ \t]+)?)"
    rf"(?:{OPEN}{_UNSEEN}(?P<plain>{_NUMBERS}){_UNSEEN}{CLOSE}"
    rf"|\u3010{_UNSEEN}(?P<wide>{_NUMBERS})[^\u3011\n]{{0,80}}\u3011)"
    r"(?:\([^()\s]{0,2000}\))?"
)
"""Marks as models write them: `[1]`, `[1, 3]`, `[2-4]`, `[^1]`, in wide brackets, as a link."""
_LINK_DEFINITION = re.compile(
    r"^ {0,3}\[\^?\d{1,3}\]:(?:[ \t]*\S+|[ \t]*\n[ \t]*<?(?:https?:)?//\S+)(?:[ \t]+[\"'(].*)?$\n?",
    re.MULTILINE,
)
_IN_A_DOCUMENT = re.compile(
    rf"{OPEN}{_UNSEEN}(\d{{1,3}}(?:{_UNSEEN}[,;\u2013-]{_UNSEEN}\d{{1,3}})*){_UNSEEN}{CLOSE}"
)


def data_text(text: str) -> str:
    """The text of a passage as it is shown to a model: numbers in brackets do not look like marks of an answer."""
    return _IN_A_DOCUMENT.sub(r"(\1)", text).replace("\u3010", "(").replace("\u3011", ")")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its parts outside of code changed, a stretch at a time."""
    edges = [0, *(edge for match in CODE.finditer(text) for edge in match.span()), len(text)]
    changed: list[str] = []
    for at, (start, end) in enumerate(pairwise(edges)):
        changed += [text[start:end]] if at % 2 else map(change, stretches(text[start:end]))
    return "".join(changed)


def stretches(text: str) -> Iterator[str]:
    """A text in stretches that one regular expression reads in milliseconds, for which it keeps all other threads
    from running. They end at the end of a line, or else at a blank, and none ends within a mark or in "![".
    """
    start = 0
    while len(text) - start > _STRETCH:
        end = start + _STRETCH
        cut = (
            text.rfind("\n", start + _STRETCH // 2, end) + 1
            or text.rfind(" ", start + _STRETCH // 2, end)
            or end
        )
        cut = cut if cut > start else end
        opening = max(text.rfind(sign, cut - _LONGEST_MARK, cut) for sign in _BEGINNINGS)
        while opening > start and text[opening - 1] == "!":
            opening -= 1
        cut = opening if opening > start else cut
        yield text[start:cut]
        start = cut
    yield text[start:]


def with_marks(text: str, mark: Callable[[int], str]) -> str:
    """The text with each number that is cited as `mark` has it. Code stays as it is."""

    def marked(match: re.Match[str]) -> str:
        numbers = _numbers(match["plain"] or match["wide"])
        if _is_interval(numbers):
            return match[0]
        marks = "".join(dict.fromkeys(map(mark, numbers)))
        return match["gap"] + marks if marks else ""

    return outside_code(text, lambda part: MARK.sub(marked, _LINK_DEFINITION.sub("", part))).rstrip()


def cited(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """The numbers that a stretch of a text cites, in order."""
    for match in MARK.finditer(text, start, len(text) if end is None else end):
        numbers = _numbers(match["plain"] or match["wide"])
        if not _is_interval(numbers):
            yield from numbers


@lru_cache(1024)
def _numbers(written: str) -> Sequence[int]:
    """The numbers of a mark, ranges written out."""
    numbers: list[int] = []
    for piece in re.split("[,;]", re.sub(_UNSEEN, "", written)):
        first, *last = map(int, re.split("[\u2013-]", piece))
        numbers.extend(range(first, min((last or [first])[0], first + _LONGEST_RANGE) + 1))
    return tuple(numbers)


def _is_interval(numbers: Sequence[int]) -> bool:
    """True for a stretch of numbers, as in "a share in [0, 1]": passages are counted from 1."""
    return 0 in numbers and len(numbers) > 1
