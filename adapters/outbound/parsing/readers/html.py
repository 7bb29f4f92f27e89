"""HTML: tidied first so that nothing readable is lost, then cut into elements by the `unstructured` library.

That library reads only what stands in `<main>` where there is one, and passes by forms, `<details>` and more.
"""

from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from adapters.outbound.mail.charsets import charset_of_html
from adapters.outbound.parsing.cleaning import one_line, without_controls
from adapters.outbound.parsing.engines import elements
from adapters.outbound.parsing.menus import drop_menus
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.tables import expand_spans
from adapters.outbound.parsing.text import decode
from domain.knowledge.documents import Block

elements.prepare()

from unstructured.partition.html import partition_html  # noqa: E402

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


def read(job: Job) -> Reading:
    """Headings, paragraphs, list items, table rows and code, without navigation, scripts and styles."""
    root = _root(job, without_controls(decode(job, declared=charset_of_html)))
    drop_menus(root)
    return _reading(root)


def read_markup(job: Job, markup: str) -> Reading:
    """A part of another document that is HTML, with all of its lists of links."""
    return _reading(_root(job, without_controls(markup)))


def _reading(root: Any) -> Reading:
    title = one_line(root.findtext(".//title") or "")
    tidy(root)
    return Reading(_blocks(root), title=title)


def _blocks(root: Any) -> Iterator[Block]:
    markup = etree.tostring(root, method="html", encoding="unicode")
    return elements.to_blocks(partition_html(text=markup, **elements.PLAIN))


def _root(job: Job, markup: str) -> Any:
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, encoding="utf-8")
    try:
        root = lxml_html.document_fromstring(markup.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        _check_memory(parser)
        raise job.unreadable("it holds no text") from error
    _check_memory(parser)
    if any(_TOO_DEEP in entry.message for entry in parser.error_log):
        raise job.unreadable("it is nested too deeply")
    return root


def _check_memory(parser: Any) -> None:
    """The library goes on with half a document when memory runs out."""
    if any(entry.type == etree.ErrorTypes.ERR_NO_MEMORY for entry in parser.error_log):
        raise MemoryError


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
