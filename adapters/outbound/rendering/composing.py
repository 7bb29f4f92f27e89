"""Composes the styled text of a Markdown document as a writer lays it out."""

import re
from collections.abc import Iterable, Sequence

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.inline import InlineComposer, code_fence, label, label_with_addresses
from adapters.outbound.rendering.markup_writer import MarkupWriter, Tables
from adapters.outbound.rendering.nodes import Table, aligned, table_of
from adapters.outbound.rendering.styled_text import (
    LONGEST_FENCE,
    Kind,
    Run,
    Span,
    Spans,
    StyledText,
    StyledTextBuilder,
)

_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}$")
_DEEPEST_QUOTE = 3
_RULES = {"left": "---", "right": "---:", "center": ":---:"}


def compose(blocks: Iterable[SyntaxTreeNode], writer: MarkupWriter, room: int | None) -> StyledText:
    """The styled text of a document.

    `room` is how many bytes one link's markup or a table's repeated header may take: a link that is longer
    is shown with its address instead, and a header that is longer is not repeated. None: any number.
    """
    composer = _Composer(writer, room)
    composer.blocks(blocks, 2)
    return composer.out.build()


def verbatim(text: str) -> StyledText:
    out = StyledTextBuilder()
    out.text(text)
    return out.build()


class _Composer:
    def __init__(self, writer: MarkupWriter, room: int | None) -> None:
        self.out = StyledTextBuilder()
        self._writer = writer
        self._layout = writer.layout
        self._room = room
        self._inline = InlineComposer(self.out, writer, room)
        self._one_line = InlineComposer(self.out, writer, room, newline=" ")
        self._quotes = 0

    def blocks(self, nodes: Iterable[SyntaxTreeNode], gap: int) -> None:
        for node in nodes:
            self.out.gap(gap)
            match node.type:
                case "paragraph":
                    self._inline.add(node.children[0])
                case "heading":
                    level = int(node.tag[1])
                    if level > self._layout.heading_levels:
                        self._inline.add(node.children[0], _BOLD)
                    else:
                        self.out.open_block(Kind.HEADING, str(level))
                        self._one_line.add(node.children[0])
                        self.out.close_block()
                    self.out.keep_with_next()
                case "fence" | "code_block":
                    self._code(node.content, node.info)
                case "blockquote":
                    self._quote(node)
                case "bullet_list" | "ordered_list":
                    self._list(node, gap)
                case "table":
                    self._table(table_of(node))
                case "hr":
                    self.out.text(self._layout.rule, structure=True)
                case other:
                    raise ValueError(f"unknown Markdown block: {other}")

    def _code(self, content: str, info: str, header: Sequence[str] = ()) -> None:
        language = info.split()[0] if info.strip() else ""
        lines = "".join(f"{line}\n" for line in header)
        self.out.open_block(
            Kind.PRE,
            language if _LANGUAGE.match(language) else "",
            header=self._repeatable(lines),
            fence=max("```", code_fence(content)[:LONGEST_FENCE]),
        )
        self.out.text(lines, structure=True)
        self.out.text(content.removesuffix("\n"))
        self.out.close_block()

    def _quote(self, node: SyntaxTreeNode) -> None:
        if self._quotes == _DEEPEST_QUOTE:
            self.blocks(node.children, 2)
            return
        self._quotes += 1
        indent, self.out.indent = self.out.indent, ""
        self.out.open_block(Kind.QUOTE)
        self.blocks(node.children, 2)
        self.out.close_block()
        self.out.indent = indent
        self._quotes -= 1

    def _list(self, node: SyntaxTreeNode, gap: int) -> None:
        number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        tight = _is_tight(node)
        outer = self.out.indent
        for at, item in enumerate(node.children):
            if at:
                self.out.after_marker()
                self.out.gap(1 if tight else gap)
            if number is not None:
                number = int(item.attrs.get("value", number + (at > 0)))
            marker = self._layout.bullet if number is None else f"{number}. "
            self.out.marker(marker)
            self.out.indent = outer + " " * (self._layout.indent or len(marker))
            self.blocks(item.children, 1 if tight else 2)
            self.out.indent = outer
        self.out.after_marker()

    def _table(self, table: Table) -> None:
        if self._layout.tables is Tables.MARKDOWN:
            self._markdown_table(table)
            return
        if self._layout.tables is Tables.ALIGNED:
            rows = [[label_with_addresses(cell) for cell in row] for row in (table.header, *table.rows)]
            lines = aligned(rows, table.aligns, self._layout.table_width)
            if lines:
                self._code("\n".join(lines[2:]), "", lines[:2])
                return
        self._table_lines(table)

    def _table_lines(self, table: Table) -> None:
        if not table.rows:
            for name in table.header:
                self.out.gap(1)
                self._inline.add(name, _BOLD)
        for row in table.rows:
            self.out.gap(2)
            for name, cell in zip(table.header, row, strict=True):
                if not cell.children:
                    continue
                if self._layout.line_break != "\n":
                    self.out.marker(self._layout.bullet)
                if name.children:
                    self._inline.add(name, _BOLD)
                    self.out.text(":", _BOLD)
                    self.out.text(" ")
                self._inline.add(cell)
                self.out.gap(1)

    def _markdown_table(self, table: Table) -> None:
        in_table = Run(0, 0, (Span(Kind.TABLE),))
        names = (self._writer.text(label(cell), in_table, line_start=False) for cell in table.header)
        rule = " | ".join(_RULES[align] for align in table.aligns)
        header = f"| {' | '.join(names)} |\n| {rule} |\n"
        self.out.open_block(Kind.TABLE, header=self._repeatable(header))
        self.out.text(header, structure=True)
        for at, row in enumerate(table.rows):
            self.out.text("\n" if at else "")
            self.out.text("| ", structure=True)
            for column, cell in enumerate(row, start=1):
                self._one_line.add(cell)
                self.out.text(" | " if column < len(row) else " |", structure=True)
        self.out.close_block()

    def _repeatable(self, header: str) -> str:
        return header if self._room is None or len(header.encode()) <= self._room else ""


_BOLD: Spans = (Span(Kind.BOLD),)


def _is_tight(node: SyntaxTreeNode) -> bool:
    """Return True if no blank line stands between the items of a list: its paragraphs are hidden then."""
    return all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
