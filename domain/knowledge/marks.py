"""The marks `[1]` by which an answer cites passages, as models and documents write them. Pure.

All of it takes time that grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

_BLOCK = r"^ {0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*(?:\n.*?)?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
CODE_BLOCK = re.compile(_BLOCK, re.DOTALL | re.MULTILINE)
CODE = re.compile(rf"{_BLOCK}|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_UNSEEN = (
    r"[\s*_^~\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]{0,20}"
)
"""What may stand in a mark beside its numbers: blanks, emphasis, the sign of a footnote, characters without width."""
OPEN = r"(?:\\?\[|&(?:#0{0,4}91|#[xX]0{0,4}5[bB]|lsqb|lbrack);|[\uff3b\u3014\u3016\u301a\u27e6\u2045\u2772\ufe5d])"
CLOSE = r"(?:\\?\]|&(?:#0{0,4}93|#[xX]0{0,4}5[dD]|rsqb|rbrack);|[\uff3d\u3015\u3017\u301b\u27e7\u2046\u2773\ufe5e])"
"""Brackets that people take for those of a mark: escaped, as entities, fullwidth and others of East Asia."""
_NUMBERS = rf"\d{{1,3}}(?:{_UNSEEN}[,;\u2013-]{_UNSEEN}\d{{1,3}}){{0,9}}"
_BEGINNINGS = "![<\\&\uff3b\u3014\u3016\u301a\u27e6\u2045\u2772\ufe5d\u3010"
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
_CLOSING = re.compile(rf"{CLOSE}\Z")
_LINK_DEFINITION = re.compile(
    r"^ {0,3}\[\^?\d{1,3}\]:(?:[ \t]*\S+|[ \t]*\n[ \t]*<?(?:https?:)?//\S+)(?:[ \t]+[\"'(].*)?$\n?",
    re.MULTILINE,
)
_IN_A_DOCUMENT = re.compile(
    rf"{OPEN}{_UNSEEN}(\d{{1,3}}(?:{_UNSEEN}[,;\u2013-]{_UNSEEN}\d{{1,3}})*){_UNSEEN}{CLOSE}"
)
_DIGIT = r"[\d\u00b2\u00b3\u00b9\u2070-\u2089\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]"
_BRACKETS = r"\[\]\uff3b\uff3d\u3014-\u3017\u301a\u301b\u27e6\u27e7\u2045\u2046\u2772\u2773\ufe5d\ufe5e"
_TAG = r"<[^<>\n]{1,20}>"
_SIGN = rf"[^\w\n<>{_BRACKETS}]|_"
_LIKE_A_MARK = re.compile(
    rf"{OPEN}(?!{_UNSEEN}[1-9]\d{{3}})((?:{_TAG}|(?!{_DIGIT})(?:{_SIGN})){{0,20}}{_DIGIT}(?:{_TAG}|{_DIGIT}|{_SIGN}){{0,60}}{CLOSE}"
    rf"|[^\w\n{_BRACKETS}]{{0,3}}(?:[^\W\d]{{1,12}}[^\w\n{_BRACKETS}]{{0,3}})?{_DIGIT}{{1,3}}(?!\w)"
    rf"[^\n{_BRACKETS}]{{0,80}}{CLOSE}(?!\())"
)
"""What a reader takes for a mark: a number with signs and tags around it, or with one word before it or something
behind it, as in `[source 2]` and `[2, p. 3]`. A year and a link with such a text stay as they are."""


def data_text(text: str) -> str:
    """The text of a passage as it is shown to a model: numbers in brackets do not look like marks of an answer."""
    plain = _IN_A_DOCUMENT.sub(r"(\1)", text).replace("\u3010", "(").replace("\u3011", ")")
    return _LIKE_A_MARK.sub(lambda mark: f"({_CLOSING.sub('', mark[1])})", plain)


def outside_code(text: str, change: Callable[[str], str], code: re.Pattern[str] = CODE) -> str:
    """The text with its parts outside of code changed, a stretch at a time."""
    edges = [0, *(edge for match in code.finditer(text) for edge in match.span()), len(text)]
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
