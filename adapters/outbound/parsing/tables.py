"""Tables: rows of cells as blocks that carry their column names, and cells over several rows or columns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from domain.knowledge.documents import Block, BlockKind

_NUMBER = re.compile(r"[-+]?[\d\s.,:/%€$£-]+")
_HEADER_CHARS = 100
BETWEEN = " | "
_MOST_COLUMNS = 100
_MOST_ROWS = 10_000
_REPEATED_CHARS = 200


def rows_to_blocks(
    rows: Iterable[tuple[int, Sequence[str]]],
    *,
    sheet: str | None = None,
    page: int | None = None,
    slide: int | None = None,
    heading_path: tuple[str, ...] = (),
) -> Iterator[Block]:
    """`(row number, cells)` to one block each, empty rows left out.

    A first row that looks like column names is the header: it is a block of its own, and each later row reads
    "name: value | name: value". Without one, rows read "value | value".
    """
    names: list[str] | None = None
    header: str | None = None
    for number, cells in _filled(rows):
        yield Block(
            BlockKind.TABLE_ROW,
            _named(names or [], cells),
            heading_path=heading_path,
            page=page,
            sheet=sheet,
            row_start=number,
            row_end=number,
            slide=slide,
            header=header,
        )
        if names is None:
            names = cells if looks_like_header(cells) else []
            header = _joined(names) or None


def _filled(rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        cells = [one_line(cell) for cell in row]
        if any(cells):
            yield number, cells


def looks_like_header(cells: Sequence[str]) -> bool:
    """Column names: at least two, each different, short, and none of them a number or a date."""
    named = [cell for cell in cells if cell]
    return (
        len(named) >= 2
        and len(named) >= len(cells) / 2
        and len(set(named)) == len(named)
        and all(len(name) <= _HEADER_CHARS and not _NUMBER.fullmatch(name) for name in named)
    )


def _joined(cells: Iterable[str]) -> str:
    return BETWEEN.join(cell for cell in cells if cell)


def _named(names: Sequence[str], cells: Sequence[str]) -> str:
    pairs = zip_longest(names, cells, fillvalue="")
    return BETWEEN.join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def expand_spans(table: Any) -> None:
    """Repeats a cell over several rows in each of them (its text, if short); puts empty ones beside a wide cell.

    Without that, the values of a row stand under the wrong column names.
    """
    below: dict[int, tuple[int, str]] = {}
    for row in _own_rows(table):
        below = _expanded(row, below)


def _expanded(row: Any, above: dict[int, tuple[int, str]]) -> dict[int, tuple[int, str]]:
    """Fills one row; `above` and the result say, for each column, for how many more rows a text reaches down."""
    below: dict[int, tuple[int, str]] = {}
    cells = list(row.iterchildren("td", "th"))
    column = 0
    while cells or any(place >= column for place in above):
        reaching = above.get(column)
        if reaching is not None:
            left, text = reaching
            _insert(row, column, text)
            if left > 1:
                below[column] = (left - 1, text)
            column += 1
        elif cells:
            cell = cells.pop(0)
            width, height = _span(cell, "colspan", _MOST_COLUMNS), _span(cell, "rowspan", _MOST_ROWS)
            text = one_line(" ".join(cell.itertext())) if height > 1 else ""
            for extra in range(width):
                if extra:
                    _insert(row, column + extra, "")
                if height > 1:
                    below[column + extra] = (
                        height - 1,
                        text if not extra and len(text) <= _REPEATED_CHARS else "",
                    )
            column += width
        else:
            _insert(row, column, "")
            column += 1
    return below


def _insert(row: Any, position: int, text: str) -> None:
    cell = row.makeelement("td", {})
    cell.text = text
    row.insert(position, cell)


def _own_rows(table: Any) -> Iterator[Any]:
    """The rows of this table, without those of tables in its cells."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _span(cell: Any, name: str, most: int) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value), 1), most) if value.isdecimal() and len(value) < 10 else 1
