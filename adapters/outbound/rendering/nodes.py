"""Markdown as a tree of elements for web pages, which a script builds without ever reading HTML; tables as plain
text, columns aligned by display width."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.inline import label
from adapters.outbound.rendering.parsing import is_safe, parsed, shown
from domain.rendering import is_read_as_markdown
from domain.web_chat.model import plain_nodes

_STYLES = {"strong": "strong", "em": "em", "s": "s"}
_LISTS = {"bullet_list": "ul", "ordered_list": "ol"}


def markdown_nodes(markdown: str) -> list[object]:
    """A list of nodes, each a text or a list of a tag, its attributes, and nodes."""
    if not is_read_as_markdown(markdown):
        return plain_nodes(markdown)
    return _blocks(parsed(markdown)) if markdown.strip() else []


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> list[object]:
    return [block for node in nodes for block in _block(node)]


def _block(node: SyntaxTreeNode) -> list[object]:
    match node.type:
        case "paragraph":
            inner = _inline(node.children[0])
            return inner if node.hidden else [["p", {}, *inner]]
        case "heading":
            return [[node.tag, {}, *_inline(node.children[0])]]
        case "fence" | "code_block":
            language = node.info.split()[0] if node.info.strip() else ""
            return [["pre", {"language": language} if language.isalnum() else {}, node.content]]
        case "blockquote":
            return [["blockquote", {}, *_blocks(node.children)]]
        case "bullet_list" | "ordered_list":
            items = [["li", {}, *_blocks(item.children)] for item in node.children]
            start = int(node.attrs.get("start", 1))
            return [[_LISTS[node.type], {"start": start} if start != 1 else {}, *items]]
        case "table":
            return [_table(node)]
        case "hr":
            return [["hr", {}]]
        case other:
            raise ValueError(f"unknown Markdown block: {other}")


def _table(node: SyntaxTreeNode) -> list[object]:
    table = table_of(node)

    def row(tag: str, cells: Iterable[SyntaxTreeNode]) -> list[object]:
        aligned = zip(cells, table.aligns, strict=True)
        return [
            "tr",
            {},
            *([tag, {"align": align} if align != "left" else {}, *_inline(cell)] for cell, align in aligned),
        ]

    return ["table", {}, row("th", table.header), *(row("td", cells) for cells in table.rows)]


def _inline(node: SyntaxTreeNode) -> list[object]:
    return [part for child in node.children for part in _part(child)]


def _part(node: SyntaxTreeNode) -> list[object]:
    match node.type:
        case "text":
            return [node.content] if node.content else []
        case "softbreak" | "hardbreak":
            return [["br", {}]]
        case "code_inline":
            return [["code", {}, node.content]]
        case "strong" | "em" | "s":
            return [[_STYLES[node.type], {}, *_inline(node)]]
        case "link":
            address = str(node.attrs["href"])
            inner = _inline(node) or [shown(address)]
            for at, part in enumerate(inner):
                if isinstance(part, list) and part[0] == "a":
                    inner[at] = part[2]  # a picture inside a link leads where the link leads
            return _link(address, inner)
        case "image":
            address = str(node.attrs["src"])
            return _link(address, [label(node) or address])
        case other:
            raise ValueError(f"unknown Markdown inline: {other}")


def _link(address: str, inner: list[object]) -> list[object]:
    """A link to the web, to mail or to a telephone; any other address is shown as text."""
    if is_safe(address):
        return [["a", {"href": address}, *inner]]
    return inner if inner == [address] or not address else [*inner, f" ({address})"]


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
    aligns = [str(cell.attrs.get("style", "")).rpartition(":")[2] or "left" for cell in rows[0]]
    cells = [[cell.children[0] for cell in row] for row in rows]
    return Table(cells[0], cells[1:], aligns)


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
    columns = 0
    for char in text:
        if unicodedata.category(char) not in ("Mn", "Me", "Cf"):
            columns += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return columns


def _padded(text: str, columns: int, align: str) -> str:
    room = columns - width(text)
    if align == "right":
        return " " * room + text
    left = room // 2 if align == "center" else 0
    return " " * left + text + " " * (room - left)
