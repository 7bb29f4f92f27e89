"""HTML, and Markdown (CommonMark with tables and strikethrough), which is rendered to it.

Menus and notices are dropped, the rest is tidied and cut into elements by the `unstructured` library. It reads only
`<main>` where there is one, and skips forms, `<details>` and more, hence the tidying.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from adapters.outbound.knowledge.parsing import elements
from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.tables import expand_spans
from adapters.outbound.knowledge.parsing.text import decode, one_line, read_unarmored, without_controls
from adapters.outbound.mail.charsets import charset_of_html
from domain.knowledge.documents import Block

elements.prepare()

from unstructured.partition.html import partition_html  # noqa: E402

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
    """Removes the outermost elements that are menus; a page that is nothing but links keeps them."""
    measures = _measured(root)
    menus: list[Any] = []
    pending = [(root, False)]
    while pending:
        element, is_inside = pending.pop()
        is_inside = is_inside or _is_content(element)
        if element.tag in _BLOCKS and _is_menu(element, measures[element], is_inside=is_inside):
            menus.append(element)
        else:
            pending.extend((child, is_inside) for child in element.iterchildren("*"))
    chars = measures[root].chars
    if chars - sum(measures[menu].chars for menu in menus) >= min(_LEAST_LEFT, chars / 2):
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


def _is_menu(element: Any, measure: _Measure, *, is_inside: bool) -> bool:
    """Return True for what is marked as a menu or notice and looks like one, and outside of the content for a text
    about cookies, and for a list of short links that no heading introduces."""
    if measure.holds_content:
        return False
    label = " ".join(element.get(name, "") for name in ("id", "class", "aria-label"))
    is_marked = element.tag == "footer" or _MENU.search(label)
    return bool(
        (_NOTICE.search(label) and measure.chars <= _NOTICE_CHARS)
        or element.get("role") in _ROLES
        or (is_marked and measure.linked >= measure.chars * _HALF)
        or (not is_inside and measure.chars <= _BANNER_CHARS and _asks_about_cookies(element))
        or (not is_inside and _is_list_of_links(element, measure))
    )


def _asks_about_cookies(element: Any) -> bool:
    """Return True for a text about cookies with a button to allow or to refuse them."""
    words = ("".join(button.itertext()) for button in element.iter("button"))
    return any(map(_CONSENT.search, words)) and "cookie" in "".join(element.itertext()).casefold()


def _is_list_of_links(element: Any, measure: _Measure) -> bool:
    """Return True for short links that no heading, in front of them or among them, introduces."""
    before = element.getprevious()
    return (
        measure.links >= _LEAST_LINKS
        and measure.linked >= measure.chars * _MOSTLY
        and measure.linked <= measure.links * _LONGEST_LINK
        and (before is None or before.tag not in _HEADINGS)
        and next(element.iter(*_HEADINGS), None) is None
    )


_DROPPED = ("script", "style", "nav", "template", "head", "svg", "iframe", "object", "embed", "canvas", "map")
_KEPT_NAMES = (
    "html body div p h1 h2 h3 h4 h5 h6 ul ol li pre blockquote br table caption thead tbody tfoot tr td th"
)
_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark meter nobr output progress q "
    "rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
_KEPT = frozenset(_KEPT_NAMES.split())
_INLINE = frozenset(_INLINE_NAMES.split())
_ITEMS = frozenset({"dt", "dd", "option", "summary", "legend", "figcaption", "label", "button", "textarea"})
_UNWRAPPED = "unwrapped"
"""Marks what leaves its content behind: all at once, as each one alone would copy the text around it."""
_TOO_DEEP = "Excessive depth"


def read(job: Job) -> Iterator[Block]:
    """Headings, paragraphs, list items, table rows and code, without navigation, scripts and styles."""
    root = _root(job, without_controls(decode(job, declared=charset_of_html)))
    drop_menus(root)
    job.title = one_line(root.findtext(".//title") or "")
    return _blocks(root)


def read_markup(job: Job, markup: str) -> Iterator[Block]:
    """A part of another document that is HTML, with all of its lists of links."""
    return _blocks(_root(job, without_controls(markup)))


def _blocks(root: Any) -> Iterator[Block]:
    tidy(root)
    markup = etree.tostring(root, method="html", encoding="unicode")
    return elements.to_blocks(partition_html(text=markup, **elements.PLAIN))


def _root(job: Job, markup: str) -> Any:
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, encoding="utf-8")
    root, failure = None, None
    try:
        root = lxml_html.document_fromstring(markup.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        failure = error
    if any(entry.type == etree.ErrorTypes.ERR_NO_MEMORY for entry in parser.error_log):
        raise MemoryError  # the library goes on with half a document
    if root is None:
        raise job.unreadable("it holds no text") from failure
    if any(_TOO_DEEP in entry.message for entry in parser.error_log):
        raise job.unreadable("it is nested too deeply")
    return root


def tidy(root: Any) -> None:
    """Leaves only what every reader understands: blocks, lists, tables, code, and text."""
    etree.strip_elements(root, *_DROPPED, with_tail=False)
    for table in list(root.iter("table")):
        if _is_layout(table):
            for part in (table, *_parts(table)):
                part.tag = "div"
        else:
            expand_spans(table)
    for element in list(root.iter(etree.Element)):
        _tidy_one(element)
    etree.strip_tags(root, _UNWRAPPED)


def _is_layout(table: Any) -> bool:
    """Return True for a table that places parts of a page: one of its cells is a text under a heading."""
    for cell in _parts(table):
        heading = next(cell.iter("h1", "h2", "h3"), None) if cell.tag == "td" else None
        if heading is not None and len("".join(cell.itertext())) > 2 * len("".join(heading.itertext())):
            return True
    return False


def _parts(table: Any) -> Iterator[Any]:
    """The rows and cells of a table, without those of tables in its cells."""
    for part in table.iter("thead", "tbody", "tfoot", "tr", "td", "th"):
        if next(part.iterancestors("table")) is table:
            yield part


def _tidy_one(element: Any) -> None:
    tag = element.tag.lower()
    if tag == "img" and (alt := (element.get("alt") or "").strip()):
        element.text = f" {alt} "
    inside_code = next(element.iterancestors("pre"), None) is not None
    if tag in _KEPT and not inside_code:
        element.attrib.clear()
    elif element.getparent() is None:
        element.tag = "div"
    elif tag in _INLINE or tag == "img" or inside_code:
        element.tag = _UNWRAPPED
    else:
        element.tag = "p" if tag in _ITEMS else "div"
        element.attrib.clear()


_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE_LINE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)


def read_markdown(job: Job) -> Iterator[Block]:
    """Headings, paragraphs, list items, table rows and code; front matter as lines of its own."""
    text = read_unarmored(job, without_controls(decode(job)).replace("\r\n", "\n"))
    front = _FRONT_MATTER.match(text)
    if front:
        title_line = _TITLE_LINE.search(front[1])
        job.title = title_line[1].strip("\"' ") if title_line else ""
        text = f"```\n{front[1]}\n```\n\n{text[front.end() :]}"
    renderer = MarkdownIt("commonmark", {"maxNesting": job.limits.depth}).enable(["table", "strikethrough"])
    tokens = renderer.parse(text)
    if max((token.level for token in tokens), default=0) >= job.limits.depth - 1:
        raise job.unreadable("it is nested too deeply")  # what lies deeper is left out by the renderer
    return read_markup(job, str(renderer.renderer.render(tokens, renderer.options, {})))
