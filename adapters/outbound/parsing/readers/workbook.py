"""XLSX, XLS and ODS workbooks, sheet by sheet and row by row, with comments and text in drawings."""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from python_calamine import CalamineWorkbook, PasswordError

from adapters.outbound.parsing.containers import check_inflation
from adapters.outbound.parsing.ooxml import part_texts, title_of
from adapters.outbound.parsing.readers import opendocument
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.tables import rows_to_blocks
from domain.knowledge.documents import Block, BlockKind, Format

_EXTRAS = "comments|threadedcomments|drawing|chart|chartshapes|diagramData"
_REPEATED_CHARS = 200


def read(job: Job) -> Reading:
    """One block for each row that holds something. Hidden sheets are read too."""
    if job.format is not Format.XLS:
        check_inflation(job)
    try:
        book = CalamineWorkbook.from_path(str(job.path))
    except PasswordError as error:
        raise job.unreadable("it is encrypted; remove its password and upload it again") from error
    return Reading(_blocks(job, book), title=_title(job))


def _title(job: Job) -> str:
    if job.format is Format.XLSX:
        return title_of(job.path)
    return opendocument.title_of(job) if job.format is Format.ODS else ""


def _blocks(job: Job, book: Any) -> Iterator[Block]:
    left = job.limits.rows
    names = book.sheet_names
    for position, name in enumerate(names):
        sheet = book.get_sheet_by_name(name)
        height = sheet.height
        if height > left:
            raise job.too_large(f"it holds more than {job.limits.rows:,} rows (sheet {name})")
        left -= height
        yield from rows_to_blocks(_rows(sheet), sheet=name)
        job.progress((position + 1) / len(names))
    if job.format is Format.XLSX:
        for text in part_texts(job.path, _EXTRAS):
            yield Block(BlockKind.NOTE, text)
    if job.format is Format.ODS:
        yield from opendocument.comments(job)


def _rows(sheet: Any) -> Iterator[tuple[int, Sequence[str]]]:
    """Rows with their numbers; a short text over several rows of a column stands in each of them."""
    reaching = _reaching(sheet)
    below: dict[int, tuple[int, str]] = {}
    for index, row in enumerate(sheet.iter_rows()):
        cells = [shown(cell) for cell in row]
        below = {column: held for column, held in below.items() if held[0] >= index}
        for column, (_, text) in below.items():
            if column < len(cells):
                cells[column] = cells[column] or text
        for column, last in reaching.get(index, ()):
            if column < len(cells) and 0 < len(cells[column]) <= _REPEATED_CHARS:
                below[column] = (last, cells[column])
        yield index + 1, cells


def _reaching(sheet: Any) -> Mapping[int, Sequence[tuple[int, int]]]:
    """For each row, the columns whose merged cell begins there and reaches further down, and its last row."""
    reaching: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if bottom > top:
            reaching.setdefault(top, []).append((left, bottom))
    return reaching


def shown(value: Any) -> str:
    """A cell as people write it: whole numbers without a point, dates as ISO 8601."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return (
            str(int(value))
            if math.isfinite(value) and value.is_integer() and abs(value) < 1e15
            else repr(value)
        )
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds") if value.time() != dt.time.min else value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)
