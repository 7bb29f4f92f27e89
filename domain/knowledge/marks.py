"""The marks `[1]` by which an answer cites passages, as models and documents write them; and what models make up
around an answer: lists of sources, and pictures from addresses of their own. Pure.

All of it takes time that grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
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


_NAME = r"(?:\w\.[A-Za-z]\w{1,4}\b|https?://|www\.|\]\()"
_MARK = rf"(?:{OPEN}\^?\d{{1,3}}(?:{CLOSE}|[,\u2013-])|\u3010)"
_SOURCE = rf"(?:(?:[-*\u2022]|\d{{1,3}}[.)])[ \t]+)?(?:{_MARK}|.{{0,200}}{_NAME}).*"
"""A line of a list of sources: a mark, a link, or something like the name of a file."""
_LIST_NAMES = (
    "(?:(?:list of|used|cited) )?(?:sources?|references?|citations?|footnotes?|bibliography|further reading|based on)"
    "(?: (?:used|cited|consulted|documents?|and references?))?"
    "|(?:source|used|cited|relevant|supporting) (?:documents?|passages?|files?)"
    "|(?:documents?|passages?|files?) (?:used|cited|consulted)"
    "|quellen?(?:angaben?|verzeichnis)?|literatur|fuentes?|referencias?|références?|fonti|riferimenti|fontes"
    "|referências|bronnen|źródła|kaynaklar|kaynakça|источники|ссылки|المصادر|المراجع|参考(?:资料|文献)|来源|出典|출처"
)
_HEADING = re.compile(
    rf"[\W_]{{0,40}}(?:\d{{1,2}}[.)][ \t])?(?:<[a-z0-9]{{1,10}}>){{0,4}}(?:{_LIST_NAMES})"
    r"[*_]{0,3}[ \t]{0,3}[:\uff1a]?[*_]{0,3}"
    rf"(?:</[a-z0-9]{{1,10}}>){{0,4}}\s{{0,3}}(?P<first>{_SOURCE})?",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"\s*(?:{_SOURCE}|(?:</?[a-z]{{1,10}}>\s{{0,3}}){{1,4}})?", re.IGNORECASE)
_NUMBERED = re.compile(
    rf"\s*(?:[-*\u2022][ \t]+)?{OPEN}\^?\d{{1,3}}{CLOSE}[:.]?[ \t]*(?:\S.{{0,100}})?\w\.[A-Za-z]\w{{1,4}}\b"
    r"[^.!?]{0,100}"
)
"""A line of a list without a heading: a mark, the name of a file, a place in it."""
_LONGEST_LINE = 1000
"""Characters of a line in a list of sources."""

_PICTURE = re.compile(
    r"!+\[(?P<label>[^\[\]]{0,1000})\]"
    r"(?P<target>\(\s{0,3}<?(?P<address>[^\s()<>]{0,2000})>?(?:\s[^()]{0,500})?\)|\[[^\[\]]{0,200}\])?"
    r"|!+(?=\[)"
    r"|<(?P<tag>[a-z][\w:-]{0,20})(?P<attributes>[\s/][^<>]{0,3000}|(?=>))>?",
    re.IGNORECASE,
)
"""What may be shown as a picture in Markdown, and a tag of HTML."""
_SHOWN = ("img", "image", "picture", "source", "video", "audio", "iframe", "embed", "object")
_RUN = ("script", "style", "base", "meta", "link")
_FETCHED = re.compile(
    r"(?<![\w-])(?:(?:low|dyn)?src(?:set|doc)?|poster|background|data|(?:xlink:)?href|(?:form)?action|ping)\s{0,3}=|\burl\s{0,3}\(",
    re.IGNORECASE,
)
"""In a tag: what a program may fetch when it shows the tag."""
_HREF = re.compile(r"""(?<![\w:-])href\s{0,3}=\s{0,3}(?:"[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\^?\d{1,3}")
_ADDRESS = re.compile(r"(?:https?:)?//[^\s<>()\[\]\"']{1,2000}")


def without_lists(text: str) -> str:
    """The text without lists of sources: the true one is made from what is cited. Code stays as it is."""
    lines = text.rstrip().split("\n")
    kept: list[str] = []
    at, in_code = 0, False
    while at < len(lines):
        in_code ^= lines[at].lstrip().startswith("```")
        end = at if in_code else _end_of_list(lines, at)
        if end == at:
            kept.append(lines[at])
        at = max(end, at + 1)
    last = len(kept)
    while (
        last
        and _is_short(kept[last - 1])
        and (not kept[last - 1].strip() or _NUMBERED.fullmatch(kept[last - 1]))
    ):
        last -= 1
    return "\n".join(kept[:last] or kept).rstrip()


def _end_of_list(lines: Sequence[str], start: int) -> int:
    """The line behind a list of sources that begins at `start`, and behind the empty lines below it; `start` if none
    begins there. A heading at the end of the text is a list, too."""
    heading = _HEADING.fullmatch(lines[start].rstrip()) if _is_short(lines[start]) else None
    if heading is None:
        return start
    is_listed, end = heading["first"] is not None, start + 1
    while end < len(lines) and _is_short(lines[end]) and _LISTED.fullmatch(lines[end]):
        is_listed = is_listed or bool(lines[end].strip())
        end += 1
    return end if is_listed or end == len(lines) else start


def _is_short(line: str) -> bool:
    return len(line) <= _LONGEST_LINE


def addresses(text: str) -> set[str]:
    """The web addresses that stand in a text."""
    return {address.rstrip(".,;:!?") for address in _ADDRESS.findall(text)}


def without_pictures(text: str, own: Collection[str]) -> str:
    """The text with the labels of pictures in place of those whose address is not among `own`, and without tags that
    fetch something else: a reader's program fetches it at once, and tells its server so. Blocks of code stay as they
    are; where code within a line ends, programs disagree."""

    def shown(picture: re.Match[str]) -> str:
        label, tag = picture["label"], picture["tag"]
        if tag is not None:
            return _shown_tag(picture, own)
        if label is None:  # the sign before a link whose label has brackets
            return ""
        is_footnote = not picture["target"] and bool(_FOOTNOTE.fullmatch(label))
        is_kept = is_footnote or picture["address"] in own
        return picture[0] if is_kept else f"({label.strip() or 'picture'})"

    return outside_code(text, lambda part: _PICTURE.sub(shown, part), CODE_BLOCK)


def _shown_tag(match: re.Match[str], own: Collection[str]) -> str:
    tag, attributes = match["tag"].lower(), match["attributes"]
    if tag in _RUN:
        return ""
    if tag == "a":  # nothing is fetched before somebody follows the link
        attributes = _HREF.sub("", attributes)
    is_fetched = "=" in attributes if tag in _SHOWN else bool(_FETCHED.search(attributes))
    named = addresses(attributes)
    if not is_fetched or (named and named <= set(own)):
        return match[0]
    return "(picture)" if tag in _SHOWN else ""
