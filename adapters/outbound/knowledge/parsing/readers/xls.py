"""XLS and binary XLSX workbooks by the `python-calamine` library; XLS number formats by BIFF 5 and 8 ([MS-XLS])."""

import datetime as dt
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import olefile
from python_calamine import CalamineWorkbook, PasswordError

from adapters.outbound.knowledge.parsing.containers import title_of
from adapters.outbound.knowledge.parsing.headers import NOT_CALCULATED
from adapters.outbound.knowledge.parsing.number_formats import BUILT_IN, GENERAL, displayed, general
from adapters.outbound.knowledge.parsing.reading import Job, Reading, contained
from adapters.outbound.knowledge.parsing.tables import repeated_below, rows_to_blocks, uncalculated_warning
from adapters.outbound.knowledge.parsing.text import codec
from domain.knowledge.documents import Block, Format

_BOF, _EOF, _BOUND_SHEET, _FORMAT, _XF, _DATE_MODE, _CODE_PAGE = (
    0x0809,
    0x000A,
    0x85,
    0x041E,
    0xE0,
    0x22,
    0x42,
)
_FORMULA, _NUMBER, _RK, _MUL_RK = 0x0006, 0x0203, 0x027E, 0x00BD
_BIFF8, _CHART = 0x0600, 0x0020
_NO_NUMBER, _EMPTY_TEXT = 0xFFFF, 3


@dataclass(slots=True)
class _Globals:
    wide: bool = True
    code_page: str = "cp1252"
    from_1904: bool = False
    formats: dict[int, str] = field(default_factory=dict)
    styles: list[int] = field(default_factory=list)
    sheets: list[tuple[str, int]] = field(default_factory=list)

    def code_of(self, style: int) -> str:
        number = self.styles[style] if style < len(self.styles) else 0
        return self.formats.get(number) or BUILT_IN.get(number, GENERAL)


def displayed_numbers(job: Job, ole: Any) -> Mapping[str, Mapping[tuple[int, int], str]]:
    """By sheet the numbers that have a format, by row and column from 0. Warns of charts, which are not read.

    A file whose formulas all have an empty text for a value was written by a program that does not calculate; they
    are named as not calculated.
    """
    name = "Workbook" if ole.exists("Workbook") else "Book"
    data: bytes = ole.openstream(name).read()
    book = _globals(data)
    numbers: dict[str, dict[tuple[int, int], str]] = {}
    empty: dict[str, list[tuple[int, int]]] = {}
    charts = formulas = 0
    for sheet, place in book.sheets:
        shown = numbers.setdefault(sheet, {})
        for depth, kind, body in _of_sheet(data, place):
            charts += kind == _BOF and struct.unpack_from("<H", body, 2)[0] == _CHART
            if depth > 1:
                continue
            formulas += kind == _FORMULA
            if kind == _FORMULA and _is_empty_text(body):
                empty.setdefault(sheet, []).append(struct.unpack_from("<HH", body))
            for row, column, style, value in _values(kind, body):
                if (code := book.code_of(style)) != GENERAL:
                    shown[row, column] = displayed(value, code, from_1904=book.from_1904)
    if formulas == sum(map(len, empty.values())):
        for sheet, cells in empty.items():
            numbers[sheet].update(dict.fromkeys(cells, NOT_CALCULATED))
            job.warn(uncalculated_warning(len(cells), sheet))
    if charts:
        job.warn("charts of XLS files are not read, only the cells that they show")
    return numbers


def _of_sheet(data: bytes, place: int) -> Iterator[tuple[int, int, bytes]]:
    """The records of a sheet with their depth: 1 for its own, more for those of charts in it."""
    depth = 0
    for kind, body in _records(data, place):
        depth += (kind == _BOF) - (kind == _EOF)
        if not depth:
            return
        yield depth, kind, body


def _records(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, at)
        yield kind, data[at + 4 : at + 4 + size]
        at += 4 + size


def _globals(data: bytes) -> _Globals:
    book = _Globals()
    for kind, body in _records(data, 0):
        if kind == _EOF:
            break
        if kind == _BOF:
            book.wide = struct.unpack_from("<H", body)[0] >= _BIFF8
        elif kind == _CODE_PAGE:
            book.code_page = codec(struct.unpack_from("<H", body)[0])
        elif kind == _DATE_MODE:
            book.from_1904 = body[:1] == b"\1"
        elif kind == _FORMAT:
            book.formats[struct.unpack_from("<H", body)[0]] = _format(body, book)
        elif kind == _XF:
            book.styles.append(struct.unpack_from("<H", body, 2)[0])
        elif kind == _BOUND_SHEET:
            book.sheets.append((_short_text(body[6:], book), struct.unpack_from("<I", body)[0]))
    return book


def _format(body: bytes, book: _Globals) -> str:
    """The code of a format: in BIFF 8 its length takes two bytes, and the text may be wide."""
    if not book.wide:
        return body[3 : 3 + body[2]].decode(book.code_page, "replace")
    count, flags = struct.unpack_from("<HB", body, 2)
    return _decoded(body[5:], count, flags)


def _short_text(body: bytes, book: _Globals) -> str:
    if not book.wide:
        return body[1 : 1 + body[0]].decode(book.code_page, "replace")
    return _decoded(body[2:], body[0], body[1])


def _decoded(body: bytes, count: int, flags: int) -> str:
    return body[: 2 * count].decode("utf-16-le", "replace") if flags & 1 else body[:count].decode("latin-1")


def _values(kind: int, body: bytes) -> Sequence[tuple[int, int, int, float]]:
    """Row, column, style and number of each cell in a record."""
    if kind == _NUMBER:
        return [struct.unpack_from("<HHHd", body)]
    if kind == _FORMULA and struct.unpack_from("<H", body, 12)[0] != _NO_NUMBER:
        return [struct.unpack_from("<HHHd", body)]
    if kind == _RK:
        row, column, style, packed = struct.unpack_from("<HHHI", body)
        return [(row, column, style, _unpacked(packed))]
    if kind == _MUL_RK:
        row, first = struct.unpack_from("<HH", body)
        cells = struct.iter_unpack("<HI", body[4 : 4 + (len(body) - 6) // 6 * 6])
        return [(row, first + index, style, _unpacked(rk)) for index, (style, rk) in enumerate(cells)]
    return ()


def _is_empty_text(formula: bytes) -> bool:
    return formula[6] == _EMPTY_TEXT and struct.unpack_from("<H", formula, 12)[0] == _NO_NUMBER


def _unpacked(rk: int) -> float:
    """A number in the short form of [MS-XLS] 2.5.217: 30 bits, as an integer or the high part of a double."""
    if rk & 2:
        value = float((rk if rk < 1 << 31 else rk - (1 << 32)) >> 2)
    else:
        value = float(struct.unpack("<d", struct.pack("<Q", (rk & 0xFFFF_FFFC) << 32))[0])
    return value / 100 if rk & 1 else value


Numbers = Mapping[tuple[int, int], str]
"""Numbers as they are shown, by row and column, from 0."""


def read(job: Job) -> Reading:
    """One block for each row that holds something. Hidden sheets are read too."""
    try:
        book = CalamineWorkbook.from_path(str(job.path))
    except PasswordError as error:
        raise job.unreadable("it is encrypted; remove its password and upload it again") from error
    if job.format is not Format.XLS:
        return Reading(_blocks(job, book, {}))
    numbers: Mapping[str, Numbers] = {}
    with olefile.OleFileIO(str(job.path)) as ole:
        with contained(job, "the format of numbers"):
            numbers = displayed_numbers(job, ole)
        return Reading(_blocks(job, book, numbers), title=title_of(ole))


def _blocks(job: Job, book: Any, numbers: Mapping[str, Numbers]) -> Iterator[Block]:
    left = job.limits.rows
    names = book.sheet_names
    for position, name in enumerate(names, start=1):
        with contained(job, f"the sheet {name}"):
            sheet = book.get_sheet_by_name(name)
            left -= sheet.height
            if left < 0:
                raise job.too_large(f"it holds more than {job.limits.rows:,} rows (sheet {name})")
            rows = repeated_below(_rows(sheet, numbers.get(name, {})), _reaching(sheet))
            yield from rows_to_blocks(rows, sheet=name, merged=_spans(sheet))
        job.progress(position / len(names))


def _spans(sheet: Any) -> Mapping[int, Sequence[tuple[int, int]]]:
    spans: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (_, right) in sheet.merged_cell_ranges or ():
        spans.setdefault(top + 1, []).append((left, right))
    return spans


def _rows(sheet: Any, numbers: Numbers) -> Iterator[tuple[int, Mapping[int, str]]]:
    """Rows by number, from the first one of the sheet; calamine begins each with the first filled column."""
    first = sheet.start[1] if sheet.start else 0
    for index, row in enumerate(sheet.iter_rows()):
        yield (
            index + 1,
            {column: numbers.get((index, column)) or shown(cell) for column, cell in enumerate(row, first)},
        )


def _reaching(sheet: Any) -> Mapping[int, Sequence[tuple[int, int]]]:
    """For each row, the columns whose merged cell begins there and reaches further down, and its last row."""
    reaching: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if bottom > top:
            reaching.setdefault(top + 1, []).append((left, bottom + 1))
    return reaching


def shown(value: Any) -> str:
    """A cell as people write it: whole numbers without a point, dates as ISO 8601."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return general(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds") if value.time() != dt.time.min else value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)
