"""XLSX (ISO/IEC 29500-1, SpreadsheetML): the cells as they are shown, sheet by sheet and row by row.

Sheets are read row by row and cell by cell, so that a cell far away costs nothing.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree

from adapters.outbound.knowledge.parsing.containers import check_inflation, release
from adapters.outbound.knowledge.parsing.headers import NOT_CALCULATED
from adapters.outbound.knowledge.parsing.number_formats import BUILT_IN, GENERAL, displayed, with_text
from adapters.outbound.knowledge.parsing.ooxml import OfficePackage, Relation, part_texts, title_of
from adapters.outbound.knowledge.parsing.readers import xls as workbook
from adapters.outbound.knowledge.parsing.reading import SECONDS_PER_BYTE, Job, contained
from adapters.outbound.knowledge.parsing.tables import sheet_blocks, uncalculated_warning
from adapters.outbound.knowledge.parsing.text import whole_number
from domain.knowledge.documents import Block, BlockKind

_EXTRAS = "comments|threadedcomments|drawing|chart|chartex|chartshapes|diagramData"
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]+\d+):([A-Z]+\d+)[\"']")
_FILTERED = re.compile(rb"<(?:\w+:)?autoFilter\s[^>]*?ref\s*=\s*[\"']([A-Z$]+[\d$]+)")
_MOST_SPANS = 100_000


@dataclass(slots=True)
class _Book:
    """What the sheets share: texts, the formats and the bold cell styles, the calendar."""

    package: OfficePackage
    texts: Sequence[str] = ()
    formats: Sequence[str] = ()
    bold: Set[int] = frozenset()
    from_1904: bool = False
    recalculated: bool = False
    """True if the values that stand beside formulas are not meant: the program is to calculate all when it opens."""

    def code_of(self, style: int) -> str:
        return self.formats[style] if style < len(self.formats) else GENERAL

    def shared_text(self, index: str, code: str) -> str:
        place = int(index) if index.isdecimal() else len(self.texts)
        return with_text(self.texts[place], code) if place < len(self.texts) else ""


@dataclass(slots=True)
class _Sheet:
    name: str
    marked: set[int]
    uncalculated: int = 0


def read(job: Job) -> Iterator[Block]:
    """One block for each row that holds something, of hidden sheets too; then comments, drawings and charts."""
    check_inflation(job)
    package = OfficePackage(job.path)
    main = package.main("xl/workbook.xml")
    if main.endswith(".bin"):  # a binary workbook
        return workbook.read(job)
    root = package.root(main)
    relations = package.relations(main)
    properties, calculation = root.find("{*}workbookPr"), root.find("{*}calcPr")
    book = _Book(
        package,
        from_1904=properties is not None and properties.get("date1904") in ("1", "true"),
        recalculated=calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true"),
    )
    places = {relation.kind: relation.target for relation in relations.values()}
    if "sharedStrings" in places:
        with contained(job, "the list of the texts of all sheets"):
            content = package.read(places["sharedStrings"])
            what = "the rest of the list of the texts of all sheets"
            book.texts = [_text(item) for item in _elements(job, content, "{*}si", what)]
    if "styles" in places:
        with contained(job, "the part with the formats of numbers"):
            book.formats, book.bold = _styles(package.root(places["styles"]))
    job.title = title_of(job)
    return _blocks(job, book, root, relations)


def _elements(job: Job, content: bytes, tag: str, what: str) -> Iterator[Any]:
    """The elements of a part one by one, up to where it is damaged; each is cleared before the next one comes."""
    parsed = etree.iterparse(
        io.BytesIO(content), tag=tag, resolve_entities=False, no_network=True, load_dtd=False
    )
    with contained(job, what):
        for _, element in parsed:
            yield element
            release(element)


def _text(item: Any) -> str:
    """A text with its differently formatted parts, without the hints of how it is spoken."""
    return "".join(
        text.text or "" for text in item.iter("{*}t") if etree.QName(text.getparent()).localname != "rPh"
    )


def _styles(root: Any) -> tuple[list[str], frozenset[int]]:
    """The format code of each cell style, and which styles are bold."""
    own = {_number(code, "numFmtId"): code.get("formatCode", GENERAL) for code in root.iter("{*}numFmt")}
    fonts = root.find("{*}fonts")
    bold = [
        (mark := font.find("{*}b")) is not None and mark.get("val", "1") not in ("0", "false")
        for font in (fonts if fonts is not None else ())
    ]
    styles = root.find("{*}cellXfs")
    cells = list(styles) if styles is not None else []
    codes = [
        own.get(number, BUILT_IN.get(number, GENERAL)) for number in (_number(c, "numFmtId") for c in cells)
    ]
    strong = (index for index, cell in enumerate(cells) if any(bold[_number(cell, "fontId") :][:1]))
    return codes, frozenset(strong)


def _number(element: Any, name: str) -> int:
    return whole_number(element.get(name), 0)


def _blocks(job: Job, book: _Book, root: Any, relations: Mapping[str, Relation]) -> Iterator[Block]:
    sheets = list(root.iterfind("{*}sheets/{*}sheet"))
    for position, entry in enumerate(sheets, start=1):
        name = entry.get("name", "")
        place = next((value for key, value in entry.items() if etree.QName(key).localname == "id"), "")
        relation = relations.get(place)
        if relation is None or relation.target not in book.package:
            job.warn(f"the sheet {name} is missing")
        elif relation.kind != "chartsheet":
            with contained(job, f"the sheet {name}"):
                for block in _rows(job, book, name, relation.target):
                    job.count_rows(1, name)
                    yield block
        job.progress(position / len(sheets))
    for text in part_texts(job, _EXTRAS):
        yield Block(BlockKind.NOTE, text)


def _rows(job: Job, book: _Book, name: str, part: str) -> Iterator[Block]:
    content = book.package.read(part)
    job.earn(len(content) * SECONDS_PER_BYTE)
    merged = (
        (_place(match[1].decode()), _place(match[2].decode()))
        for match in islice(_MERGED.finditer(content), _MOST_SPANS)
    )
    # The rows that a table or a filter of the sheet takes for names of columns.
    marked = {_place(match[1].decode())[1] for match in _FILTERED.finditer(content)}
    for relation in book.package.relations(part).values():
        if relation.kind == "table" and relation.target in book.package:
            table = book.package.root(relation.target)
            if table.get("headerRowCount", "1") != "0":
                marked.add(_place(table.get("ref", "A0"))[1])
    sheet = _Sheet(name, marked)
    yield from sheet_blocks(name, _cells(job, book, sheet, content), merged, sheet.marked)
    if sheet.uncalculated:
        job.warn(uncalculated_warning(sheet.uncalculated, name))


def _place(reference: str) -> tuple[int, int]:
    """Column, from 0, and row, from 1, of a reference such as "B7"."""
    match = _CELL.match(reference)
    if match is None:
        return 0, 0
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return column - 1, int(match[2])


def _cells(job: Job, book: _Book, sheet: _Sheet, content: bytes) -> Iterator[tuple[int, Mapping[int, str]]]:
    """The filled cells of each row. The first of rows whose several cells are all bold is marked."""
    number, former_is_bold = 0, False
    for row in _elements(job, content, "{*}row", f"the rest of the sheet {sheet.name}"):
        number = _number(row, "r") or number + 1
        cells: dict[int, str] = {}
        bold, column = 0, -1
        for cell in row.iterchildren("{*}c"):
            place = cell.get("r")
            column = _place(place)[0] if place else column + 1
            if text := _shown(book, sheet, cell):
                cells[column] = text
                bold += _number(cell, "s") in book.bold
        is_bold = len(cells) > 1 and bold == len(cells)
        if is_bold and not former_is_bold:
            sheet.marked.add(number)
        if cells:
            former_is_bold = is_bold
        yield number, cells


def _shown(book: _Book, sheet: _Sheet, cell: Any) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _text(cell)
    parts = {child.tag.rpartition("}")[2]: child.text or "" for child in cell}
    value, formula = parts.get("v", ""), parts.get("f")
    if kind == "n" and formula is not None and (not value or (book.recalculated and value == "0")):
        sheet.uncalculated += 1
        return f"{NOT_CALCULATED} (={formula})" if formula else NOT_CALCULATED
    code = book.code_of(_number(cell, "s"))
    if kind == "s":
        return book.shared_text(value, code)
    return _value(kind, value, code, from_1904=book.from_1904)


def _value(kind: str, value: str, code: str, *, from_1904: bool) -> str:
    if kind == "n" and value:
        try:
            return displayed(float(value), code, from_1904=from_1904)
        except ValueError:
            return value
    if kind == "b" and value:
        return "TRUE" if value == "1" else "FALSE"
    if kind == "d":
        return value.replace("T", " ").removesuffix(" 00:00:00")
    return with_text(value, code) if kind == "str" else value
