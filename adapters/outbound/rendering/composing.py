"""Composes the styled text of a Markdown document as a writer lays it out."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.markup_writer import MarkupWriter, Tables
from adapters.outbound.rendering.parsing import is_safe, shown
from adapters.outbound.rendering.styled_text import (
    LONGEST_FENCE,
    Kind,
    Run,
    Span,
    Spans,
    StyledText,
    StyledTextBuilder,
    has,
)

_STYLES = {"strong": Kind.BOLD, "em": Kind.ITALIC, "s": Kind.STRIKE}
_BACKTICKS = re.compile("`+")


class InlineComposer:
    """Adds inline content to a styled text.

    `room` is how many bytes the markup of one link may take. A line end becomes `newline` if it is given,
    else what the writer has for it.
    """

    def __init__(
        self, out: StyledTextBuilder, writer: MarkupWriter, room: int | None, newline: str | None = None
    ) -> None:
        self._out = out
        self._writer = writer
        self._layout = writer.layout
        self._room = room
        self._newline = newline

    def add(self, node: SyntaxTreeNode, spans: Spans = (), *, touched: bool = False) -> None:
        """Adds what is inside a node; `touched`: a letter, a digit or other markup stands beside it."""
        children = node.children
        last = len(children) - 1
        for at, child in enumerate(children):
            beside = at > 0 and _touches(children[at - 1], children[at - 1].content[-1:])
            beside = beside or (at < last and _touches(children[at + 1], children[at + 1].content[:1]))
            self._add_one(child, spans, beside or (touched and at in (0, last)))

    def _add_one(self, node: SyntaxTreeNode, spans: Spans, touched: bool) -> None:
        match node.type:
            case "text":
                self._out.text(node.content, spans)
            case "softbreak" | "hardbreak":
                if self._newline is not None or has(spans, Kind.LINK):
                    self._out.text(self._newline or " ", spans)
                else:
                    self._out.line_break(self._layout.line_break)
            case "code_inline":
                fence = code_fence(node.content)
                is_long = len(fence) > (LONGEST_FENCE if self._layout.backtick_in_code else 1)
                self._out.text(node.content, spans if is_long else (*spans, Span(Kind.CODE, fence=fence)))
            case "strong" | "em" | "s":
                kind = _STYLES[node.type]
                inner = spans if has(spans, kind) else (*spans, Span(kind, tight=touched))
                self.add(node, inner, touched=touched)
            case "link":
                self._link(node, spans)
            case "image":
                address = str(node.attrs["src"])
                text = label(node) or address
                if span := self._span(address, spans):
                    self._out.text(text, (*spans, span))
                    self._out.ended(span)
                else:
                    self._out.text(text, spans)
                    self._mention(text, address, spans)
            case other:
                raise ValueError(f"unknown Markdown inline: {other}")

    def _link(self, node: SyntaxTreeNode, spans: Spans) -> None:
        address = str(node.attrs["href"])
        text = label(node)
        is_bare = node.info == "auto" or text in ("", address, shown(address))
        if is_bare and self._layout.bare_links:
            self._out.text(text or shown(address), spans)
            return
        span = self._span(address, spans, bare=is_bare)
        if is_bare:
            self._out.text(text or shown(address), (*spans, span) if span else spans)
        elif span:
            self.add(node, (*spans, span))
            self._out.ended(span)
        else:
            self.add(node, spans)
            self._mention(text, address, spans)

    def _mention(self, text: str, address: str, spans: Spans) -> None:
        """The address in brackets; not that of a picture inside a link, which leads elsewhere."""
        if address and address != text and not has(spans, Kind.LINK):
            self._out.text(f" ({shown(address)})", spans)

    def _span(self, address: str, spans: Spans, *, bare: bool = False) -> Span | None:
        """The span of a link, if the writer can make one of the address."""
        web_alone = not self._layout.mail_links
        if has(spans, Kind.LINK) or not is_safe(address, web_alone=web_alone):
            return None
        span = Span(Kind.LINK, address, self._out.settle(), bare=bare)
        markup = self._writer.open(span, again=False) + self._writer.close(span, done=True)
        too_long = self._room is not None and len(markup.encode()) + len(address) > self._room
        return None if too_long else span


def label(node: SyntaxTreeNode) -> str:
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "softbreak" | "hardbreak":
            return " "
    return "".join(map(label, node.children))


def label_with_addresses(node: SyntaxTreeNode) -> str:
    """The text of inline content with the addresses of its links and images."""
    if not node.children:
        return label(node)
    text = "".join(map(label_with_addresses, node.children))
    address = shown(str(node.attrs.get("href" if node.type == "link" else "src", "")))
    return f"{text} ({address})".strip() if address not in ("", text) and node.info != "auto" else text


def code_fence(content: str) -> str:
    """One backtick more than the longest row of them in the code."""
    return "`" * (1 + max(map(len, _BACKTICKS.findall(content)), default=0))


def _touches(node: SyntaxTreeNode, edge: str) -> bool:
    """Return True for markup, and for text whose character at the edge is a letter or digit."""
    return node.type not in ("text", "softbreak", "hardbreak") or edge.isalnum()


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
