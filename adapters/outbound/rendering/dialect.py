"""What a markup's file says of it: how blocks are laid out, how spans are written, what is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from adapters.outbound.rendering.flow import Kind, Run, Span, Spans
from domain.channels.model import TextLimit


class Tables(Enum):
    """How a table is shown."""

    ALIGNED = auto()
    """Aligned in a code block; as lines where it would be wider than the layout allows."""
    MARKDOWN = auto()
    LINES = auto()
    """'header: value' lines, a paragraph for each row."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a platform's blocks are laid out.

    `indent` 0: what is inside a list item is indented as far as its marker is wide. `heading_levels`: up
    to which level the platform has headings of its own; others are bold. `line_break` is a line end within
    a paragraph. `backtick_in_code`: inline code can hold a backtick. `mail_links`: links may lead to mail and
    telephones, not to the web alone. `bare_links`: the platform makes links of bare addresses itself.
    """

    bullet: str = "• "
    indent: int = 4
    rule: str = "———"
    heading_levels: int = 0
    line_break: str = "\n"
    tables: Tables = Tables.ALIGNED
    table_width: int = 60
    backtick_in_code: bool = False
    mail_links: bool = True
    bare_links: bool = True


class MarkupWriter(Protocol):
    """A platform's markup. Spans come outermost first; `line_start`: only a list marker stands before."""

    @property
    def layout(self) -> Layout: ...

    def keep(self, run: Run) -> Spans:
        """The spans of a run that the platform can nest like this."""
        ...

    def open(self, span: Span, *, again: bool) -> str:
        """What begins a span; `again` after a cut inside it."""
        ...

    def close(self, span: Span, *, done: bool) -> str:
        """What ends a span; not `done` before a cut inside it."""
        ...

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        """A run's text, escaped."""
        ...

    def line_prefix(self, spans: Spans) -> str:
        """What every line of a quote begins with."""
        ...

    def source_limit(self, limit: TextLimit) -> TextLimit:
        """How long the markup itself may be where the visible text may be as long as `limit`."""
        ...


def has(spans: Spans, *kinds: Kind) -> bool:
    """Whether one of the kinds is among the spans."""
    return bool(spans) and any(span.kind in kinds for span in spans)
