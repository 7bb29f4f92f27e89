"""The `unstructured` library, without its model download and telemetry; its elements made into blocks."""

import os
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from lxml import html as lxml_html

from adapters.outbound.knowledge.parsing.reading import Sections
from adapters.outbound.knowledge.parsing.tables import expand_spans, rows_to_blocks
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind

_TOKENIZER = "unstructured.nlp.tokenize"
_SENTENCE_GAP = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_WORD = re.compile(r"\w+|[^\w\s]")
_VERB = re.compile(
    r"(?:am|is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|shall|should"
    r"|\w+(?:ed|ing|ize|izes|ise|ises))\Z",
    re.IGNORECASE,
)
_SILENCE = {"DO_NOT_TRACK": "1", "SCARF_NO_ANALYTICS": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}
_KINDS = {
    "ListItem": BlockKind.LIST_ITEM,
    "CodeSnippet": BlockKind.CODE,
    "Header": BlockKind.MARGIN,
    "Footer": BlockKind.MARGIN,
    "PageNumber": BlockKind.MARGIN,
}
PLAIN: dict[str, Any] = {"languages": ["eng"], "detect_language_per_element": False}
"""Arguments for every partition call: without them each loads a language detector, for the same text."""


def prepare() -> None:
    """To be called before any import from the library.

    Its tokenizer downloads a model of spaCy at the first use. It is used only to tell titles from prose in a
    document that does not say so, for which a few rules do. The library also reports its use to its makers.
    """
    os.environ.update(_SILENCE)
    if _TOKENIZER in sys.modules:
        return
    module = types.ModuleType(_TOKENIZER)
    names: dict[str, Any] = {
        "sent_tokenize": lambda text: [part for part in _SENTENCE_GAP.split(text) if part.strip()],
        "word_tokenize": _WORD.findall,
        "pos_tag": lambda text: [(word, "VB" if _VERB.match(word) else "NN") for word in _WORD.findall(text)],
    }
    vars(module).update(names)
    sys.modules[_TOKENIZER] = module


def to_blocks(
    elements: Iterable[Any], headings: Mapping[str, int] | None = None, contents: Set[str] = frozenset()
) -> Iterator[Block]:
    """Elements in document order to blocks; running headers and footers come once.

    `headings` has the texts that are headings, with their level; without it, every title is one. `contents` has
    those of tables of contents."""
    sections = Sections()
    margins: set[str] = set()
    for element in elements:
        name = type(element).__name__
        text = element.text or ""
        page = element.metadata.page_number
        kind = _KINDS.get(name, BlockKind.PARAGRAPH)
        if name == "Table" and (markup := element.metadata.text_as_html):
            yield from _table(markup, page, sections.path)
        elif one_line(text) in contents:
            yield Block(BlockKind.CONTENTS, text, page=page)
        elif text.strip() and (level := _level(element, name, headings)) is not None:
            path = sections.enter(level, one_line(text))
            yield Block(BlockKind.HEADING, text, heading_path=path, level=level, page=page)
        elif kind is not BlockKind.MARGIN:
            yield Block(kind, text, heading_path=sections.path, page=page)
        elif text not in margins:
            margins.add(text)
            yield Block(kind, text, page=page)


def _table(markup: str, page: int | None, path: tuple[str, ...]) -> Iterator[Block]:
    """The caption of a table and its rows; rows of `th` cells alone hold the names of columns."""
    root = lxml_html.fragment_fromstring(markup, create_parent="div")
    yield Block(BlockKind.PARAGRAPH, root.findtext(".//caption") or "", heading_path=path, page=page)
    table = root.find("table")
    if table is None:
        return
    rows = list(enumerate(table.iter("tr"), start=1))
    marked = {number for number, row in rows if {cell.tag for cell in row.iterchildren("td", "th")} == {"th"}}
    expand_spans(table)
    cells = (
        (number, [" ".join(cell.itertext()) for cell in row.iterchildren("td", "th")]) for number, row in rows
    )
    yield from rows_to_blocks(cells, page=page, heading_path=path, marked=marked)


def _level(element: Any, name: str, headings: Mapping[str, int] | None) -> int | None:
    if headings is None:
        return min((element.metadata.category_depth or 0) + 1, 6) if name == "Title" else None
    is_text = name in ("Title", "Text", "NarrativeText")
    return headings.get(one_line(element.text or "")) if is_text else None
