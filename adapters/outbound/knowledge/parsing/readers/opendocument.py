"""ODT, ODS and ODP (OpenDocument 1.3, part 3): text, tables, sheets and notes from content.xml."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.outbound.knowledge.parsing.containers import Package, check_inflation
from adapters.outbound.knowledge.parsing.headers import NOT_CALCULATED
from adapters.outbound.knowledge.parsing.number_formats import displayed, general
from adapters.outbound.knowledge.parsing.reading import SECONDS_PER_BYTE, Job, Sections, contained
from adapters.outbound.knowledge.parsing.tables import repeated_below, rows_to_blocks, uncalculated_warning
from adapters.outbound.knowledge.parsing.text import one_line, whole_number
from domain.knowledge.documents import Block, BlockKind, Format

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE = f"{{{_OASIS}:text:1.0}}", f"{{{_OASIS}:table:1.0}}"
_DRAW, _OFFICE = f"{{{_OASIS}:drawing:1.0}}", f"{{{_OASIS}:office:1.0}}"
_SHOW, _CHART = f"{{{_OASIS}:presentation:1.0}}", f"{{{_OASIS}:chart:1.0}}"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value", "string": "string-value"}
"""The attribute with the value of a cell, by its type."""
_CLOCK = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?")
_OBJECT = re.compile(r"(?:\./)?object \d+/content\.xml")
_LEFT_OUT = frozenset({f"{_TEXT}tracked-changes", f"{_TEXT}sequence-decls", f"{_OFFICE}forms"})
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
_TITLE = ".//{http://purl.org/dc/elements/1.1/}title"
_MOST_REPEATED, _MOST_COLUMNS = 100, 1_024


def read(job: Job) -> Iterator[Block]:
    """Headings, paragraphs, lists, rows of tables and sheets, slides; then charts, running headers and footers."""
    check_inflation(job)
    package = Package(job.path)
    manifest = "META-INF/manifest.xml"
    if manifest in package and b"encryption-data" in package.read_damaged(manifest):
        raise job.unreadable("it is encrypted; remove its password and upload it again")
    content = package.recovered(job, "content.xml")
    if content is None:
        raise job.unreadable("it is damaged: its content cannot be read")
    with contained(job, "the part with the title"):
        if "meta.xml" in package:
            job.title = one_line(package.root("meta.xml").findtext(_TITLE) or "")
    blocks = {Format.ODS: _sheets, Format.ODP: _slides}.get(job.format, _document)
    return blocks(job, package, content)


def _sheets(job: Job, package: Package, content: Any) -> Iterator[Block]:
    size = min(package.members["content.xml"].file_size, job.limits.inflated_bytes)
    job.earn(size * SECONDS_PER_BYTE)
    sheets = content.findall(f"{_OFFICE}body/{_OFFICE}spreadsheet/{_TABLE}table")
    for position, sheet in enumerate(sheets, start=1):
        name = sheet.get(f"{_TABLE}name", "")
        spans: dict[int, list[tuple[int, int]]] = {}
        for block in rows_to_blocks(_sheet_rows(job, sheet, name, spans), sheet=name, merged=spans):
            job.count_rows(1, name)
            yield block
        job.progress(position / len(sheets))
    yield from map(_note, content.iter(f"{_OFFICE}annotation"))
    yield from _charts(job, package)


def _sheet_rows(
    job: Job, sheet: Any, name: str, spans: dict[int, list[tuple[int, int]]]
) -> Iterator[tuple[int, Mapping[int, str]]]:
    """Rows with their numbers and filled cells; `spans` gets the merged cells of each row."""
    reaching: dict[int, list[tuple[int, int]]] = {}
    uncalculated = 0

    def rows() -> Iterator[tuple[int, Mapping[int, str]]]:
        nonlocal uncalculated
        number = 1
        for row in _own_rows(sheet):
            cells: dict[int, str] = {}
            column = 0
            for cell in row.iterchildren(*_CELLS):
                text = _cell_text(cell)
                times = _count(cell, f"{_TABLE}number-columns-repeated")
                if not text and cell.get(f"{_TABLE}formula") and cell.get(f"{_OFFICE}value-type") is None:
                    text = NOT_CALCULATED
                    uncalculated += 1
                if text:
                    cells.update(dict.fromkeys(range(column, column + min(times, _MOST_COLUMNS)), text))
                    wide = _count(cell, f"{_TABLE}number-columns-spanned")
                    high = _count(cell, f"{_TABLE}number-rows-spanned")
                    spans.setdefault(number, []).append((column, column + min(wide, _MOST_COLUMNS) - 1))
                    if high > 1:
                        reaching.setdefault(number, []).append((column, number + high - 1))
                column += times
            times = _count(row, f"{_TABLE}number-rows-repeated")
            for further in range(min(times, job.limits.rows + 1) if cells else 0):
                yield number + further, cells
            number += times

    yield from repeated_below(rows(), reaching)
    if uncalculated:
        job.warn(uncalculated_warning(uncalculated, name))


def _cell_text(cell: Any) -> str:
    """The text of a cell, or the value of one without, as programs write it that are no spreadsheet."""
    if text := one_line("\n".join(map(_shown, cell.iterchildren(*_PARAGRAPHS)))):
        return text
    kind = cell.get(f"{_OFFICE}value-type")
    value = cell.get(f"{_OFFICE}{_VALUES.get(kind, 'value')}", "")
    with contextlib.suppress(ValueError):
        if kind == "percentage":
            return displayed(float(value), "0.##########%").replace(".%", "%")
        if kind in ("float", "currency"):
            return f"{general(float(value))} {cell.get(f'{_OFFICE}currency', '')}".strip()
    if kind == "time" and (clock := _CLOCK.fullmatch(value)):
        return ":".join(part.zfill(2) for part in clock.groups("0"))
    return value.upper() if kind == "boolean" else one_line(value.replace("T00:00:00", ""))


def _count(element: Any, name: str) -> int:
    return whole_number(element.get(name), 1)


def _charts(job: Job, package: Package) -> Iterator[Block]:
    """The charts, which are documents in the document: their titles, and the table of their values."""
    for name in [name for name in package.members if _OBJECT.fullmatch(name)]:
        with contained(job, f"the part {name}"):
            for chart in package.root(name).iter(f"{_CHART}chart"):
                for title in chart.iter(f"{_CHART}title", f"{_CHART}subtitle"):
                    yield _note(title)
                for names, *rows in map(list, map(_rows, chart.iter(f"{_TABLE}table"))):
                    for category, *values in rows:
                        shown = ", ".join(map(" ".join, zip(names[1:], values, strict=False)))
                        yield Block(BlockKind.NOTE, f"{category}: {shown}")


def _document(job: Job, package: Package, content: Any) -> Iterator[Block]:
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    if body is not None:
        yield from _Walk().blocks(body)
    yield from _charts(job, package)
    margins: list[Any] = []
    with contained(job, "the part with running headers and footers"):
        if "styles.xml" in package:
            margins = list(package.root("styles.xml").iter("{*}header", "{*}footer"))
    for text in dict.fromkeys(_shown(paragraph) for part in margins for paragraph in part.iter(*_PARAGRAPHS)):
        yield Block(BlockKind.MARGIN, text)


def _slides(job: Job, package: Package, content: Any) -> Iterator[Block]:
    pages = list(content.iter(f"{_DRAW}page"))
    job.check_pages(len(pages), "slides")
    for number, page in enumerate(pages, start=1):
        titles = (frame for frame in page.iter(f"{_DRAW}frame") if frame.get(f"{_SHOW}class") == "title")
        heading = next((one_line(_all_of(frame)) for frame in titles), "")
        path = (heading,) if heading else ()
        if heading:
            yield Block(BlockKind.HEADING, heading, heading_path=path, level=1, slide=number)
        yield from _Walk(path, number).blocks(page)
        job.progress(number / len(pages))
    yield from _charts(job, package)


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
    for row in _own_rows(table):
        cells: list[str] = []
        for cell in row.iterchildren(*_CELLS):
            times = min(_count(cell, f"{_TABLE}number-columns-repeated"), _MOST_REPEATED)
            cells += [one_line(_all_of(cell))] * times
        yield cells


def _own_rows(table: Any) -> Iterator[Any]:
    """The rows of this table, without those of tables in its cells."""
    for row in table.iter(f"{_TABLE}table-row"):
        if next(row.iterancestors(f"{_TABLE}table")) is table:
            yield row


def _shown(element: Any) -> str:
    """The text of a paragraph without its notes and drawings, which are read apart."""
    return "".join(_pieces(element))


def _pieces(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == f"{_TEXT}s":
            yield " " * min(_count(child, f"{_TEXT}c"), _MOST_REPEATED)
        elif child.tag in _BLANKS:
            yield _BLANKS[child.tag]
        elif isinstance(child.tag, str) and not _is_detached(child):
            yield from _pieces(child)
        yield child.tail or ""
