"""Cells that reach over several rows or columns of an HTML table, made into one cell for each place.

Without that, the values of a row stand under the wrong column names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adapters.outbound.parsing.cleaning import one_line

_MOST_COLUMNS = 100
_MOST_ROWS = 10_000
_REPEATED_CHARS = 200


def expand_spans(table: Any) -> None:
    """Repeats a cell over several rows in each of them (its text, if short); puts empty ones beside a wide cell."""
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
