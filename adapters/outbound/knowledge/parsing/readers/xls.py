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
from adapters.outbound.knowledge.parsing.reading import Job, contained
from adapters.outbound.knowledge.parsing.tables import sheet_blocks, uncalculated_warning
from adapters.outbound.knowledge.parsing.text import codec
from domain.knowledge.documents import Block, Format

_BOF, _EOF, _BOUND_SHEET, _FORMAT = 0x0809, 0x000A, 0x85, 0x041E
_XF, _DATE_MODE, _CODE_PAGE = 0xE0, 0x22, 0x42
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


@dataclass(slots=True)
class _SheetNumbers:
    """`shown`: numbers that have a format, by row and column; `empty`: formulas whose value is an empty text."""

    shown: dict[tuple[int, int], str] = field(default_factory=dict)
    empty: list[tuple[int, int]] = field(default_factory=list)
    formulas: int = 0
    charts: int = 0


def displayed_numbers(job: Job, ole: Any) -> Mapping[str, Mapping[tuple[int, int], str]]:
    """By sheet the numbers that have a format, by row and column from 0. Warns of charts, which are not read.

    A file whose formulas all have an empty text for a value was written by a program that does not calculate; they
    are named as not calculated.
    """
    data: bytes = ole.openstream("Workbook" if ole.exists("Workbook") else "Book").read()
    book = _globals(data)
    sheets: dict[str, _SheetNumbers] = {}
    for name, place in book.sheets:
        _read_sheet(data, place, book, sheets.setdefault(name, _SheetNumbers()))
    numbers = sheets.values()
    if not sum(sheet.formulas - len(sheet.empty) for sheet in numbers):
        for name, sheet in sheets.items():
            if sheet.empty:
                sheet.shown.update(dict.fromkeys(sheet.empty, NOT_CALCULATED))
                job.warn(uncalculated_warning(len(sheet.empty), name))
    if any(sheet.charts for sheet in numbers):
        job.warn("charts of XLS files are not read, only the cells that they show")
    return {name: sheet.shown for name, sheet in sheets.items()}


def _read_sheet(data: bytes, place: int, book: _Globals, sheet: _SheetNumbers) -> None:
    depth = 0  # 1 for records of the sheet, more for those of charts in it
    for kind, body in _records(data, place):
        depth += (kind == _BOF) - (kind == _EOF)
        if not depth:
            return
        sheet.charts += kind == _BOF and struct.unpack_from("<H", body, 2)[0] == _CHART
        if depth > 1:
            continue
        if kind == _FORMULA:
            sheet.formulas += 1
            if body[6] == _EMPTY_TEXT and struct.unpack_from("<H", body, 12)[0] == _NO_NUMBER:
                sheet.empty.append(struct.unpack_from("<HH", body))
        for row, column, style, value in _values(kind, body):
            if (code := book.code_of(style)) != GENERAL:
                sheet.shown[row, column] = displayed(value, code, from_1904=book.from_1904)


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
            book.formats[struct.unpack_from("<H", body)[0]] = _string(body[2:], 2, book)
        elif kind == _XF:
            book.styles.append(struct.unpack_from("<H", body, 2)[0])
        elif kind == _BOUND_SHEET:
            book.sheets.append((_string(body[6:], 1, book), struct.unpack_from("<I", body)[0]))
    return book


def _string(body: bytes, size_bytes: int, book: _Globals) -> str:
    """A string behind its length; in BIFF 8 flags follow, and the text may be wide."""
    if not book.wide:
        return body[1 : 1 + body[0]].decode(book.code_page, "replace")
    count, flags, text = int.from_bytes(body[:size_bytes], "little"), body[size_bytes], body[size_bytes + 1 :]
    return text[: 2 * count].decode("utf-16-le", "replace") if flags & 1 else text[:count].decode("latin-1")


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


def _unpacked(rk: int) -> float:
    """A number in the short form of [MS-XLS] 2.5.217: 30 bits, as an integer or the high part of a double."""
    if rk & 2:
        value = float((rk if rk < 1 << 31 else rk - (1 << 32)) >> 2)
    else:
        value = float(struct.unpack("<d", struct.pack("<Q", (rk & 0xFFFF_FFFC) << 32))[0])
    return value / 100 if rk & 1 else value


Numbers = Mapping[tuple[int, int], str]
"""Numbers as they are shown, by row and column, from 0."""


def read(job: Job) -> Iterator[Block]:
    """One block for each row that holds something. Hidden sheets are read too."""
    try:
        book = CalamineWorkbook.from_path(str(job.path))
    except PasswordError as error:
        raise job.unreadable("it is encrypted; remove its password and upload it again") from error
    numbers: Mapping[str, Numbers] = {}
    if job.format is Format.XLS:
        with olefile.OleFileIO(str(job.path)) as ole:
            with contained(job, "the format of numbers"):
                numbers = displayed_numbers(job, ole)
            job.title = title_of(ole)
    names = book.sheet_names
    for position, name in enumerate(names, start=1):
        with contained(job, f"the sheet {name}"):
            sheet = book.get_sheet_by_name(name)
            job.count_rows(sheet.height, name)
            ranges = sheet.merged_cell_ranges or ()
            merged = (((first, top + 1), (last, bottom + 1)) for (top, first), (bottom, last) in ranges)
            yield from sheet_blocks(name, _rows(sheet, numbers.get(name, {})), merged)
        job.progress(position / len(names))


def _rows(sheet: Any, numbers: Numbers) -> Iterator[tuple[int, Mapping[int, str]]]:
    """Rows by number, from the first one of the sheet; calamine begins each with the first filled column."""
    first = sheet.start[1] if sheet.start else 0
    for index, row in enumerate(sheet.iter_rows()):
        cells = enumerate(row, first)
        yield index + 1, {column: numbers.get((index, column)) or shown(cell) for column, cell in cells}


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
