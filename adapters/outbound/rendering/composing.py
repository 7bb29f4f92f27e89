"""Composes the flow of a Markdown document as a dialect lays it out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.dialect import Dialect, Layout, Tables, has
from adapters.outbound.rendering.flow import Flow, FlowBuilder, Kind, Run, Span, Spans
from adapters.outbound.rendering.parsing import is_safe
from adapters.outbound.rendering.tables import Table, aligned, table_of, width

_STYLES = {"strong": Kind.BOLD, "em": Kind.ITALIC, "s": Kind.STRIKE}
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}$")
_BACKTICKS = re.compile(r"`+")
_DEEPEST_QUOTE = 3


def compose(blocks: Iterable[SyntaxTreeNode], dialect: Dialect, longest_address: int | None) -> Flow:
    """The flow of a document. An address longer than `longest_address` is shown instead of linked."""
    composer = _Composer(dialect, longest_address)
    composer.blocks(blocks, 2)
    return composer.out.build()


class _Composer:
    def __init__(self, dialect: Dialect, longest_address: int | None) -> None:
        self.out = FlowBuilder()
        self._dialect = dialect
        self._layout: Layout = dialect.layout
        self._longest_address = longest_address
        self._quotes = 0

    def blocks(self, nodes: Iterable[SyntaxTreeNode], gap: int) -> None:
        for node in nodes:
            self.out.gap(gap)
            self._block(node, gap)

    def _block(self, node: SyntaxTreeNode, gap: int) -> None:
        match node.type:
            case "paragraph":
                self._inline(node.children[0])
            case "heading":
                self._heading(node)
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

    def _heading(self, node: SyntaxTreeNode) -> None:
        level = int(node.tag[1])
        if level > self._layout.heading_levels:
            self._inline(node.children[0], (Span(Kind.BOLD),))
            return
        self.out.open_block(Kind.HEADING, str(level))
        self._inline(node.children[0], newline=" ")
        self.out.close_block()

    def _code(self, content: str, info: str, header: Sequence[str] = ()) -> None:
        language = info.split()[0] if info.strip() else ""
        lines = "".join(f"{line}\n" for line in header)
        self.out.open_block(
            Kind.PRE,
            language if _LANGUAGE.match(language) else "",
            header=lines,
            fence=max("```", _code_fence(content)),
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
        tight = all(
            child.hidden for item in node.children for child in item.children if child.type == "paragraph"
        )
        outer = self.out.indent
        for at, item in enumerate(node.children):
            if at:
                self.out.after_marker()
                self.out.gap(self._layout.item_gap if tight else gap)
            marker = self._layout.bullet if number is None else f"{number + at}. "
            self.out.marker(marker)
            self.out.indent = outer + " " * (self._layout.indent or len(marker))
            self.blocks(item.children, 1 if tight else 2)
            self.out.indent = outer
        self.out.after_marker()

    def _inline(self, node: SyntaxTreeNode, spans: Spans = (), newline: str | None = None) -> None:
        _Inline(self.out, self._layout, self._longest_address, newline).children(node, spans)

    def _table(self, table: Table) -> None:
        if self._layout.tables is Tables.MARKDOWN:
            self._markdown_table(table)
            return
        if self._layout.tables is Tables.ALIGNED:
            rows = [[cell_text(cell) for cell in row] for row in (table.header, *table.rows)]
            lines = aligned(rows, table.aligns)
            if max(map(width, lines)) <= self._layout.table_width:
                self._code("\n".join(lines[2:]), "", lines[:2])
                return
        self._table_lines(table)

    def _table_lines(self, table: Table) -> None:
        if not table.rows:
            self._inline_cells(table.header)
        for row in table.rows:
            self.out.gap(2)
            for at, (name, cell) in enumerate(zip(table.header, row, strict=True)):
                if not label(cell):
                    continue
                self.out.gap(1 if at else 0)
                if label(name):
                    bold = (Span(Kind.BOLD),)
                    self._inline(name, bold)
                    self.out.text(":", bold)
                    self.out.text(" ")
                self._inline(cell)

    def _inline_cells(self, cells: Sequence[SyntaxTreeNode]) -> None:
        for cell in cells:
            self.out.gap(1)
            self._inline(cell, (Span(Kind.BOLD),))

    def _markdown_table(self, table: Table) -> None:
        in_table = Run(0, 0, (Span(Kind.TABLE),))
        names = (self._dialect.text(label(cell), in_table, line_start=False) for cell in table.header)
        rules = {"left": "---", "right": "---:", "center": ":---:"}
        header = f"| {' | '.join(names)} |\n| {' | '.join(rules[each] for each in table.aligns)} |\n"
        self.out.open_block(Kind.TABLE, header=header)
        self.out.text(header, structure=True)
        for at, row in enumerate(table.rows):
            self.out.text("\n| " if at else "| ", structure=True)
            for cell in row:
                self._inline(cell)
                self.out.text(" | " if cell is not row[-1] else " |", structure=True)
        self.out.close_block()


class _Inline:
    """Inline content: text with the spans around it."""

    def __init__(
        self, out: FlowBuilder, layout: Layout, longest_address: int | None, newline: str | None
    ) -> None:
        self._out = out
        self._layout = layout
        self._longest_address = longest_address
        self._newline = newline

    def children(self, node: SyntaxTreeNode, spans: Spans, touched: bool = False) -> None:
        children = node.children
        for at, child in enumerate(children):
            before = children[at - 1] if at else None
            after = children[at + 1] if at + 1 < len(children) else None
            edge = touched and (at == 0 or after is None)
            self._node(child, spans, edge or _ends_in_word(before) or _begins_with_word(after))

    def _node(self, node: SyntaxTreeNode, spans: Spans, touched: bool) -> None:
        match node.type:
            case "text":
                self._out.text(node.content, spans)
            case "softbreak" | "hardbreak":
                self._break(spans)
            case "code_inline":
                self._code(node.content, spans)
            case "strong" | "em" | "s":
                kind = _STYLES[node.type]
                inner = spans if has(spans, kind) else (*spans, Span(kind, tight=touched))
                self.children(node, inner, touched)
            case "link":
                self._link(node, spans)
            case "image":
                self._address(label(node) or str(node.attrs["src"]), str(node.attrs["src"]), spans)
            case other:
                raise ValueError(f"unknown Markdown inline: {other}")

    def _break(self, spans: Spans) -> None:
        if self._newline is not None or has(spans, Kind.LINK):
            self._out.text(self._newline or " ", spans)
        else:
            self._out.line_break(self._layout.line_break)

    def _code(self, content: str, spans: Spans) -> None:
        if "`" in content and not self._layout.backtick_in_code:
            self._out.text(content, spans)
            return
        self._out.text(content, (*spans, Span(Kind.CODE, fence=_code_fence(content))))

    def _link(self, node: SyntaxTreeNode, spans: Spans) -> None:
        address = str(node.attrs["href"])
        if node.info == "auto" or not label(node):
            self._out.text(label(node) or address, spans)
        elif self._linkable(address, spans):
            span = Span(Kind.LINK, address, self._out.settle())
            self.children(node, (*spans, span))
            self._out.ended(span)
        else:
            self.children(node, spans)
            self._mention(label(node), address, spans)

    def _address(self, label: str, address: str, spans: Spans) -> None:
        if self._linkable(address, spans):
            span = Span(Kind.LINK, address, self._out.settle())
            self._out.text(label, (*spans, span))
            self._out.ended(span)
        else:
            self._out.text(label, spans)
            self._mention(label, address, spans)

    def _mention(self, label: str, address: str, spans: Spans) -> None:
        if address and address != label and not has(spans, Kind.LINK):
            self._out.text(f" ({address})", spans)

    def _linkable(self, address: str, spans: Spans) -> bool:
        if has(spans, Kind.LINK) or not self._layout.links or not is_safe(address):
            return False
        return self._longest_address is None or len(address) <= self._longest_address


def label(node: SyntaxTreeNode) -> str:
    """The text of inline content alone."""
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "softbreak" | "hardbreak":
            return " "
    return "".join(map(label, node.children))


def cell_text(node: SyntaxTreeNode) -> str:
    """The text of inline content with the addresses of its links and images."""
    if not node.children:
        return label(node)
    text = "".join(map(cell_text, node.children))
    address = str(node.attrs.get("href" if node.type == "link" else "src", ""))
    return f"{text} ({address})".strip() if address and address != text and node.info != "auto" else text


def _code_fence(content: str) -> str:
    longest = max((len(each) for each in _BACKTICKS.findall(content)), default=0)
    return "`" * (longest + 1)


def _begins_with_word(node: SyntaxTreeNode | None) -> bool:
    return (
        node is not None and (node.type != "text" or node.content[:1].isalnum()) and "break" not in node.type
    )


def _ends_in_word(node: SyntaxTreeNode | None) -> bool:
    return (
        node is not None and (node.type != "text" or node.content[-1:].isalnum()) and "break" not in node.type
    )
