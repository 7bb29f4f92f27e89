"""Rows of cells as blocks that carry their column names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from adapters.outbound.parsing.cleaning import one_line
from domain.knowledge.documents import Block, BlockKind

_NUMBER = re.compile(r"[-+]?[\d\s.,:/%€$£-]+")
_HEADER_CHARS = 100
BETWEEN = " | "


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
    names: list[str] = []
    first = True
    for number, row in rows:
        cells = [one_line(cell) for cell in row]
        if not any(cells):
            continue
        is_header = first and looks_like_header(cells)
        if is_header:
            names = cells
        text = BETWEEN.join(cell for cell in cells if cell) if first or not names else _named(names, cells)
        yield Block(
            BlockKind.TABLE_ROW,
            text,
            heading_path=heading_path,
            page=page,
            sheet=sheet,
            row_start=number,
            row_end=number,
            slide=slide,
            header=BETWEEN.join(name for name in names if name) if names and not is_header else None,
        )
        first = False


def looks_like_header(cells: Sequence[str]) -> bool:
    """Column names: at least two, each different, short, and none of them a number or a date."""
    named = [cell for cell in cells if cell]
    return (
        len(named) >= 2
        and len(named) >= len(cells) / 2
        and len(set(named)) == len(named)
        and all(len(name) <= _HEADER_CHARS and not _NUMBER.fullmatch(name) for name in named)
    )


def _named(names: Sequence[str], cells: Sequence[str]) -> str:
    parts = []
    for position, cell in enumerate(cells):
        if cell:
            name = names[position] if position < len(names) else ""
            parts.append(f"{name}: {cell}" if name else cell)
    return BETWEEN.join(parts)
