"""Inline content: text with the spans around it, and the addresses of links that cannot be linked."""

import re

from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.markup_writer import MarkupWriter
from adapters.outbound.rendering.parsing import is_safe, shown
from adapters.outbound.rendering.styled_text import LONGEST_FENCE, Kind, Span, Spans, StyledTextBuilder, has

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
