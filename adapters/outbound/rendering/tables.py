"""Tables as plain text: columns aligned by display width."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.tree import SyntaxTreeNode

_BETWEEN = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """A parsed table; each cell is the node of its inline content."""

    header: Sequence[SyntaxTreeNode]
    rows: Sequence[Sequence[SyntaxTreeNode]]
    aligns: Sequence[str]
    """'left', 'right' or 'center' for each column."""


def table_of(node: SyntaxTreeNode) -> Table:
    """Reads a table node."""
    rows = [list(row.children) for section in node.children for row in section.children]
    aligns = [_align(cell) for cell in rows[0]]
    cells = [[cell.children[0] for cell in row] for row in rows]
    return Table(cells[0], cells[1:], aligns)


def _align(cell: SyntaxTreeNode) -> str:
    return str(cell.attrs.get("style", "")).rpartition(":")[2] or "left"


def aligned(rows: Sequence[Sequence[str]], aligns: Sequence[str], most: int) -> list[str] | None:
    """Rows of equal length as lines with aligned columns, the second of which underlines the first.

    None if they would take more than `most` columns.
    """
    widths = [max(3, *(width(row[at]) for row in rows)) for at in range(len(aligns))]
    if sum(widths) + len(_BETWEEN) * (len(widths) - 1) > most:
        return None
    lines = [_BETWEEN.join(map(_padded, row, widths, aligns)).rstrip() for row in rows]
    return [lines[0], _BETWEEN.join("-" * column for column in widths), *lines[1:]]


def width(text: str) -> int:
    """How many columns of a fixed-width font a text takes."""
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _padded(text: str, columns: int, align: str) -> str:
    room = columns - width(text)
    if align == "right":
        return " " * room + text
    left = room // 2 if align == "center" else 0
    return " " * left + text + " " * (room - left)
