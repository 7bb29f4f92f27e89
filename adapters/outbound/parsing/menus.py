"""Menus, lists of languages and notices about cookies around the content of an HTML page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_ROLES = frozenset({"navigation", "menu", "menubar", "toolbar", "search"})
_MENU = re.compile(
    r"(?:^|[-_\s])(?:nav|navbar|navi|navigation|menu|menubar|submenu|dropdown|sitemap|toolbar|pagination|pager|toc|table-of-contents|foot|footer|lang(?:uages?)?|interlanguage|p-lang)(?:$|[-_\s\d])",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    r"cookie|consent|gdpr|onetrust|cmp(?:$|[-_])|breadcrumb|skip-?link|cc-(?:window|banner)", re.IGNORECASE
)
_CONSENT = re.compile(
    r"\b(?:accept|agree|allow|reject|decline|got it|ok(?:ay)?|akzept|zustimm|einverstanden|ablehn|verstanden|accepte|"
    r"autoris|refuse|acept|rechaz|accett|rifiut|aceit|rejeit|akkoord|godk|accepteer|zgadzam|akceptuj)",
    re.IGNORECASE,
)
"""Words of buttons that allow or refuse cookies, in their beginnings."""
_CONTENT = re.compile(
    r"(?:content|main|main-?content|page-?content|bodycontent|mw-content-text|primary|article|post|entry)\Z",
    re.IGNORECASE,
)
_CONTENT_TAGS = frozenset({"main", "article"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset(
    {"div", "ul", "ol", "section", "aside", "header", "footer", "table", "dl", "p", "form", "menu"}
)
_LEAST_LINKS, _LONGEST_LINK = 4, 40
_MOSTLY, _HALF = 0.8, 0.5
_NOTICE_CHARS, _BANNER_CHARS = 1_500, 600
_LEAST_LEFT = 40


@dataclass(slots=True)
class _Measure:
    """Characters of an element, of them those in links, and the number of links; whether it holds the content."""

    chars: int = 0
    linked: int = 0
    links: int = 0
    holds_content: bool = False


def drop_menus(root: Any) -> None:
    """Removes them; a page that is nothing but links keeps them."""
    measures = _measured(root)
    whole = measures[root].chars
    menus = list(_menus(root, measures))
    left = whole - sum(measures[menu].chars for menu in menus)
    if left >= min(_LEAST_LEFT, whole / 2):
        for menu in menus:
            menu.drop_tree()


def _measured(root: Any) -> dict[Any, _Measure]:
    """Every element, from the inside out."""
    measures: dict[Any, _Measure] = {}
    for element in reversed(list(root.iter("*"))):
        measure = _Measure(_length(element.text), holds_content=_is_content(element))
        for child in element.iterchildren("*"):
            inner = measures[child]
            measure.chars += inner.chars + _length(child.tail)
            measure.linked += inner.linked
            measure.links += inner.links
            measure.holds_content = measure.holds_content or inner.holds_content
        if element.tag == "a" and element.get("href") and measure.chars:
            measure.linked, measure.links = measure.chars, 1
        measures[element] = measure
    return measures


def _length(text: str | None) -> int:
    return len("".join((text or "").split()))


def _is_content(element: Any) -> bool:
    return (
        element.tag in _CONTENT_TAGS
        or element.get("role") == "main"
        or (element.tag in _BLOCKS and bool(_CONTENT.match(element.get("id") or "")))
    )


def _menus(root: Any, measures: dict[Any, _Measure]) -> Iterator[Any]:
    """The outermost elements that are menus."""
    pending = [(root, False)]
    while pending:
        element, is_inside = pending.pop()
        is_inside = is_inside or _is_content(element)
        if element.tag in _BLOCKS and _is_menu(element, measures[element], is_inside=is_inside):
            yield element
        else:
            pending.extend((child, is_inside) for child in element.iterchildren("*"))


def _is_menu(element: Any, measure: _Measure, *, is_inside: bool) -> bool:
    """Return True for what is marked as a menu or notice and looks like one, and outside of the content for a list of
    short links that no heading introduces."""
    if measure.holds_content:
        return False
    label = " ".join(element.get(name) or "" for name in ("id", "class", "aria-label"))
    if _NOTICE.search(label) and measure.chars <= _NOTICE_CHARS:
        return True
    is_marked = element.tag == "footer" or _MENU.search(label)
    if element.get("role") in _ROLES or (is_marked and measure.linked >= measure.chars * _HALF):
        return True
    if not is_inside and measure.chars <= _BANNER_CHARS and _asks_about_cookies(element):
        return True
    return (
        not is_inside
        and measure.links >= _LEAST_LINKS
        and measure.linked >= measure.chars * _MOSTLY
        and measure.linked <= measure.links * _LONGEST_LINK
        and not _is_introduced(element)
    )


def _asks_about_cookies(element: Any) -> bool:
    """Return True for a text about cookies with a button to allow or to refuse them."""
    words = ("".join(button.itertext()) for button in element.iter("button"))
    return any(map(_CONSENT.search, words)) and "cookie" in "".join(element.itertext()).casefold()


def _is_introduced(element: Any) -> bool:
    """Return True if a heading stands directly in front of the element, or in it."""
    before = element.getprevious()
    return (before is not None and before.tag in _HEADINGS) or next(
        element.iter(*_HEADINGS), None
    ) is not None
