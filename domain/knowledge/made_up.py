"""What a model makes up around an answer: lists of sources, and pictures from addresses of its own. Pure."""

import re
from collections.abc import Collection, Sequence

from domain.knowledge.marks import CLOSE, CODE_BLOCK, OPEN, outside_code

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
