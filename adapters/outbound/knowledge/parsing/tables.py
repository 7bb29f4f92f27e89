"""Tables: rows of cells as blocks that carry their column names, and cells over several rows or columns."""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any

from adapters.outbound.knowledge.parsing.headers import Header, Kind, Row, Spans, find_header, kind_of
from adapters.outbound.knowledge.parsing.text import one_line, whole_number
from domain.knowledge.documents import Block, BlockKind

BETWEEN = " | "
_LAST_COLUMN = 16_383
_MOST_COLUMNS = 100
_MOST_ROWS = 10_000
_REPEATED_CHARS = 200
_WINDOW = 60
"""So many rows are looked at together to find the names of columns."""
_LONGEST_TITLE = 150

Cells = Sequence[str] | Mapping[int, str]
"""The cells of a row in their order, or those that are filled, by column."""
Numbered = tuple[int, Row]
"""The number of a row, and its filled cells."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The table of the present row: rows from number `begins` on have these names of columns."""

    names: Row
    values: frozenset[int] = frozenset()
    first: int = 0
    begins: int = 0
    header: str | None = None

    def header_at(self, number: int) -> str | None:
        return self.header if number >= self.begins else None

    def text_of(self, number: int, cells: Row) -> str:
        if self.names and number >= self.begins:
            pairs = ((self.names.get(column), cell) for column, cell in cells.items())
            return BETWEEN.join(f"{name}: {cell}" if name else cell for name, cell in pairs)
        return _joined(cells).replace(f":{BETWEEN}", ": ")


_NO_TABLE = _Table({})
_NO_SPANS: Spans = {}


def rows_to_blocks(
    rows: Iterable[tuple[int, Cells]],
    *,
    sheet: str | None = None,
    page: int | None = None,
    slide: int | None = None,
    heading_path: tuple[str, ...] = (),
    merged: Spans = _NO_SPANS,
    marked: Container[int] = (),
) -> Iterator[Block]:
    """`(row number, cells)` to one block each, empty rows left out.

    A row below names of columns reads "name: value | name: value", any other one "value | value", and a label with a
    colon "label: value". Names are looked for in the first rows and below each empty row, so that several tables have
    their own. `merged` has the merged cells by row number, `marked` the rows that the file itself shows as names. The
    title above a table of a sheet is a heading.
    """
    stream = _filled(rows)
    ahead = deque(islice(stream, _WINDOW))
    table = latest = _NO_TABLE
    path, previous = heading_path, -1
    below_single = False
    while ahead:
        number, cells = ahead[0]
        if number > previous + 1 or previous < 0 or _restarts(ahead, table, merged, marked):
            table = _table_at(ahead, merged, marked, latest)
            latest = table if table.names else latest
        below_single = below_single and number == previous + 1
        is_title = bool(sheet) and not below_single and _is_title(ahead, table, merged, marked)
        if is_title:
            path = (*heading_path, _joined(cells))
        yield Block(
            BlockKind.HEADING if is_title else BlockKind.TABLE_ROW,
            table.text_of(number, cells),
            heading_path=path,
            level=1 if is_title else None,
            page=page,
            sheet=sheet,
            row_start=number,
            row_end=number,
            slide=slide,
            header=table.header_at(number),
        )
        previous, below_single = number, len(cells) == 1
        ahead.popleft()
        ahead.extend(islice(stream, 1))


def _filled(rows: Iterable[tuple[int, Cells]]) -> Iterator[Numbered]:
    for number, row in rows:
        cells = sorted(row.items()) if isinstance(row, Mapping) else enumerate(row)
        filled = {column: text for column, cell in cells if (text := one_line(cell))}
        if filled:
            yield number, filled


def _table_at(ahead: Sequence[Numbered], merged: Spans, marked: Container[int], former: _Table) -> _Table:
    """The table that begins here, or the former one if these rows go on with it below an empty row."""
    group = _group(ahead)
    header = _header_of(group, ahead, merged, marked)
    if header is None:
        fitting = (
            len(cells) > 1
            and cells.keys() <= former.names.keys()
            and all(kind_of(cells[column]) is not Kind.TEXT for column in former.values & cells.keys())
            for _, cells in group
        )
        return former if former.names and sum(fitting) * 2 > len(group) else _NO_TABLE
    first, begins = group[header.first][0], group[header.last][0] + 1
    names = _joined(header.names)
    if former.header == names:  # repeated, as at the top of a printed page
        return replace(former, first=first, begins=begins)
    return _Table(header.names, header.values, first, begins, names)


def _group(rows: Sequence[Numbered]) -> list[Numbered]:
    """The rows up to the next empty one."""
    first = rows[0][0]
    return [row for _, row in takewhile(lambda pair: pair[1][0] == first + pair[0], enumerate(rows))]


def _restarts(ahead: Sequence[Numbered], table: _Table, merged: Spans, marked: Container[int]) -> bool:
    """Return True for a title right below a table, and names of columns that do not fit that table."""
    rows = list(islice(ahead, 2))
    if not table.begins or rows[0][0] < table.begins or len(rows[0][1]) > 1 or rows[-1][0] != rows[0][0] + 1:
        return False
    names = rows[1][1]
    if names.keys() == table.names.keys() and not any(
        kind_of(names[column]) is Kind.TEXT for column in table.values
    ):
        return False
    return _begins(list(islice(ahead, 1, None)), merged, marked)


def _header_of(
    group: Sequence[Numbered], ahead: Sequence[Numbered], merged: Spans, marked: Container[int]
) -> Header | None:
    if len(group) == 1:
        return None
    spans = {index: merged[number] for index, (number, _) in enumerate(group) if number in merged}
    names = [index for index, (number, _) in enumerate(group) if number in marked]
    most_below = max((len(cells) for _, cells in islice(ahead, len(group), None)), default=0)
    return find_header([cells for _, cells in group], spans, marked=names, most_below=most_below)


def _is_title(ahead: Sequence[Numbered], table: _Table, merged: Spans, marked: Container[int]) -> bool:
    """Return True for words in the first of some single cells above a table, or an empty row and a table."""
    number, cells = ahead[0]
    (text,) = cells.values() if len(cells) == 1 else ("",)
    if not text or len(text) > _LONGEST_TITLE or kind_of(text) is not Kind.TEXT or number >= table.begins > 0:
        return False
    singles = len(list(takewhile(lambda row: len(row[1]) == 1, _group(ahead))))
    if table.begins:
        return number + singles == table.first
    following = list(islice(ahead, singles, None))
    return bool(following) and following[0][0] == number + singles + 1 and _begins(following, merged, marked)


def _begins(rows: Sequence[Numbered], merged: Spans, marked: Container[int]) -> bool:
    header = _header_of(_group(rows), rows, merged, marked)
    return header is not None and header.first == 0


def _joined(cells: Row) -> str:
    return BETWEEN.join(cells.values())


def repeated_below(
    rows: Iterable[Numbered], reaching: Mapping[int, Sequence[tuple[int, int]]]
) -> Iterator[tuple[int, dict[int, str]]]:
    """Rows in which a short text over several rows of a column stands in each of them.

    `reaching` has, by row number, the columns whose merged cell begins there and reaches further down, and its last
    row."""
    below: dict[int, tuple[int, str]] = {}
    for number, row in rows:
        cells = dict(row)
        below = {column: held for column, held in below.items() if held[0] >= number}
        for column, (_, text) in below.items():
            cells[column] = cells.get(column) or text
        for column, last in reaching.get(number, ()):
            if 0 < len(cells.get(column, "")) <= _REPEATED_CHARS:
                below[column] = (last, cells[column])
        yield number, cells


def sheet_blocks(
    sheet: str,
    rows: Iterable[Numbered],
    merged: Iterable[tuple[tuple[int, int], tuple[int, int]]],
    marked: Container[int] = (),
) -> Iterator[Block]:
    """The rows of a sheet as `rows_to_blocks` has them. `merged` are the first and the last cell of each merged one,
    by column and row."""
    spans: dict[int, list[tuple[int, int]]] = {}
    reaching: dict[int, list[tuple[int, int]]] = {}
    for (left, top), (right, bottom) in merged:
        spans.setdefault(top, []).append((left, min(right, _LAST_COLUMN)))
        if bottom > top:
            reaching.setdefault(top, []).append((left, bottom))
    yield from rows_to_blocks(repeated_below(rows, reaching), sheet=sheet, merged=spans, marked=marked)


def uncalculated_warning(count: int, sheet: str) -> str:
    formulas = "1 formula of the sheet {} has" if count == 1 else f"{count:,} formulas of the sheet {{}} have"
    return (
        f"{formulas.format(sheet)} no stored value; open the file in a spreadsheet program, save it, and upload it "
        "again"
    )


def expand_spans(table: Any) -> None:
    """Repeats a cell over several rows in each of them (its text, if short); puts empty ones beside a wide cell.

    Without that, the values of a row stand under the wrong column names. Tables in cells are left as they are.
    """
    below: dict[int, tuple[int, str]] = {}
    for row in table.xpath("./tr | ./thead/tr | ./tbody/tr | ./tfoot/tr"):
        below = _expanded(row, below)


def _expanded(row: Any, above: dict[int, tuple[int, str]]) -> dict[int, tuple[int, str]]:
    """Fills one row; `above` and the result say, for each column, for how many more rows a text reaches down."""
    below: dict[int, tuple[int, str]] = {}
    cells = list(row.iterchildren("td", "th"))
    column = 0
    while cells or any(place >= column for place in above):
        if column in above or not cells:
            left, text = above.get(column, (1, ""))
            _insert(row, column, text)
            if left > 1:
                below[column] = (left - 1, text)
            column += 1
            continue
        cell = cells.pop(0)
        width, height = _span(cell, "colspan", _MOST_COLUMNS), _span(cell, "rowspan", _MOST_ROWS)
        for extra in range(1, width):
            _insert(row, column + extra, "")
        if height > 1:
            text = one_line(" ".join(cell.itertext()))
            below.update(dict.fromkeys(range(column, column + width), (height - 1, "")))
            below[column] = (height - 1, text if len(text) <= _REPEATED_CHARS else "")
        column += width
    return below


def _insert(row: Any, position: int, text: str) -> None:
    cell = row.makeelement("td", {})
    cell.text = text
    row.insert(position, cell)


def _span(cell: Any, name: str, most: int) -> int:
    return min(max(whole_number((cell.get(name) or "").strip(), 1), 1), most)
