"""ODT and ODP (OpenDocument 1.3, part 3): text, tables and notes from content.xml."""

import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.containers import check_inflation
from adapters.outbound.parsing.ooxml import safe_root
from adapters.outbound.parsing.reading import Job, Reading, Sections
from adapters.outbound.parsing.tables import rows_to_blocks
from domain.knowledge.documents import Block, BlockKind, Format

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE = f"{{{_OASIS}:text:1.0}}", f"{{{_OASIS}:table:1.0}}"
_DRAW, _OFFICE = f"{{{_OASIS}:drawing:1.0}}", f"{{{_OASIS}:office:1.0}}"
_SHOW = f"{{{_OASIS}:presentation:1.0}}"
_LEFT_OUT = frozenset(
    {
        f"{_TEXT}tracked-changes",
        f"{_TEXT}sequence-decls",
        f"{_OFFICE}forms",
    }
)
"""Deleted text and declarations."""
_KINDS = {
    f"{_TEXT}list": BlockKind.LIST_ITEM,
    f"{_TEXT}table-of-content": BlockKind.CONTENTS,
    f"{_TEXT}alphabetical-index": BlockKind.CONTENTS,
    f"{_SHOW}notes": BlockKind.NOTE,
}
"""What the paragraphs in such elements are."""
_NOTES = frozenset({f"{_TEXT}note", f"{_OFFICE}annotation"})
_BLANKS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_MOST_REPEATED = 100


def read(job: Job) -> Reading:
    """Headings, paragraphs, lists, rows of tables, slides, then running headers and footers."""
    check_inflation(job)
    with zipfile.ZipFile(job.path) as archive:
        if b"encryption-data" in _part(archive, "META-INF/manifest.xml"):
            raise job.unreadable("it is encrypted; remove its password and upload it again")
        content = safe_root(archive.read("content.xml"))
        styles = _part(archive, "styles.xml")
    if job.format is Format.ODP:
        return Reading(_slides(job, content), title=title_of(job))
    return Reading(_document(content, styles), title=title_of(job))


def title_of(job: Job) -> str:
    with zipfile.ZipFile(job.path) as archive:
        meta = _part(archive, "meta.xml")
    root = safe_root(meta) if meta else None
    return "" if root is None else one_line(root.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "")


def comments(job: Job) -> Iterator[Block]:
    """The comments of a document, which calamine does not read from a sheet."""
    with zipfile.ZipFile(job.path) as archive:
        root = safe_root(archive.read("content.xml"))
    for comment in root.iter(f"{_OFFICE}annotation"):
        yield _note(comment)


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    return archive.read(name) if name in archive.namelist() else b""


def _document(content: Any, styles: bytes) -> Iterator[Block]:
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    if body is not None:
        yield from _Walk().blocks(body)
    margins = safe_root(styles).iter("{*}header", "{*}footer") if styles else ()
    for text in dict.fromkeys(_shown(paragraph) for part in margins for paragraph in part.iter(*_PARAGRAPHS)):
        yield Block(BlockKind.MARGIN, text)


def _slides(job: Job, content: Any) -> Iterator[Block]:
    pages = list(content.iter(f"{_DRAW}page"))
    if len(pages) > job.limits.pages:
        raise job.too_large(f"it has {len(pages):,} slides, {job.limits.pages:,} are allowed")
    for number, page in enumerate(pages, start=1):
        titles = (frame for frame in page.iter(f"{_DRAW}frame") if frame.get(f"{_SHOW}class") == "title")
        heading = next((one_line(_all_of(frame)) for frame in titles), "")
        path = (heading,) if heading else ()
        if heading:
            yield Block(BlockKind.HEADING, heading, heading_path=path, level=1, slide=number)
        yield from _Walk(path, number).blocks(page)
        job.progress(number / len(pages))


class _Walk:
    """Goes through elements in order. On a slide every text stands under the slide's title."""

    def __init__(self, path: tuple[str, ...] = (), slide: int | None = None) -> None:
        self._sections = Sections()
        self._fixed = path
        self._slide = slide

    def blocks(self, parent: Any, kind: BlockKind = BlockKind.PARAGRAPH) -> Iterator[Block]:
        for element in parent.iterchildren("*"):
            if element.tag in _PARAGRAPHS:
                yield from self._paragraph(element, kind)
            elif element.tag == f"{_TABLE}table":
                rows = enumerate(_rows(element), start=1)
                yield from rows_to_blocks(rows, heading_path=self._path, slide=self._slide)
                yield from map(_note, element.iter(*_NOTES))
            elif element.tag not in _LEFT_OUT and element.get(f"{_SHOW}class") != "title":
                yield from self.blocks(element, _KINDS.get(element.tag, kind))

    @property
    def _path(self) -> tuple[str, ...]:
        return self._fixed or self._sections.path

    def _paragraph(self, element: Any, kind: BlockKind) -> Iterator[Block]:
        text = _shown(element)
        level = element.get(f"{_TEXT}outline-level") if element.tag == f"{_TEXT}h" else None
        if level and text.strip() and self._slide is None:
            depth = min(int(level), 6) if level.isdecimal() else 1
            path = self._sections.enter(depth, one_line(text))
            yield Block(BlockKind.HEADING, text, heading_path=path, level=depth)
        else:
            yield Block(kind, text, heading_path=self._path, slide=self._slide)
        for inner in _detached(element):
            yield from [_note(inner)] if inner.tag in _NOTES else self.blocks(inner)


def _note(element: Any) -> Block:
    return Block(BlockKind.NOTE, _all_of(element))


def _all_of(element: Any) -> str:
    """The text of all paragraphs in it."""
    return "\n".join(_shown(part) for part in element.iter(*_PARAGRAPHS))


def _detached(element: Any) -> Iterator[Any]:
    """The notes and drawings in a paragraph, the outermost ones: their text does not belong to its sentence."""
    for child in element.iterchildren("*"):
        if _is_detached(child):
            yield child
        else:
            yield from _detached(child)


def _is_detached(element: Any) -> bool:
    return element.tag in _NOTES or (element.tag.startswith(_DRAW) and element.tag != f"{_DRAW}a")


def _rows(table: Any) -> Iterator[Sequence[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        if next(row.iterancestors(f"{_TABLE}table")) is not table:
            continue
        cells: list[str] = []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            repeated = cell.get(f"{_TABLE}number-columns-repeated") or "1"
            times = min(int(repeated), _MOST_REPEATED) if repeated.isdecimal() else 1
            cells += [one_line(_all_of(cell))] * times
        yield cells


def _shown(element: Any) -> str:
    """The text of a paragraph without its notes and drawings, which are read apart."""
    return "".join(_pieces(element))


def _pieces(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            yield from _inline(child)
        yield child.tail or ""


def _inline(element: Any) -> Iterator[str]:
    if element.tag == f"{_TEXT}s":
        count = element.get(f"{_TEXT}c") or "1"
        yield " " * (min(int(count), _MOST_REPEATED) if count.isdecimal() else 1)
    elif element.tag in _BLANKS:
        yield _BLANKS[element.tag]
    elif not _is_detached(element):
        yield from _pieces(element)
