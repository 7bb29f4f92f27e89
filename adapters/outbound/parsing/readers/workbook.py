"""XLS and binary XLSX workbooks, sheet by sheet and row by row, by the `python-calamine` library."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import olefile
from python_calamine import CalamineWorkbook, PasswordError

from adapters.outbound.parsing.biff import displayed_numbers
from adapters.outbound.parsing.containers import title_of
from adapters.outbound.parsing.failures import contained
from adapters.outbound.parsing.number_formats import general
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.tables import repeated_below, rows_to_blocks
from domain.knowledge.documents import Block, Format

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
