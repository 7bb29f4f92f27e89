"""How a platform writes formatted text: the layout of blocks, the markup of spans, what is escaped."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from adapters.outbound.rendering.marks import ADDRESS
from adapters.outbound.rendering.styled_text import EMPHASIS, VERBATIM, Kind, Run, Span, Spans, has
from domain.channels.model import TextLimit

ZERO_WIDTH = "\u200b"
"""Keeps two characters from being read as markup where a platform has no escape; it is not seen."""

_UNESCAPED = "*_~`"
_ALL_SPACED = str.maketrans({mark: mark + ZERO_WIDTH for mark in _UNESCAPED})
_FENCED_EDGE = re.compile("^(?=`)|(?<=`)$", re.MULTILINE)
_MOST_MARKS = 500
"""Marks of one text whose matches are looked for."""
_MARK = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])")
_OPENING = re.compile(r"(?<![^\W_])[*_~`](?=\S)")
_CLOSING = re.compile(r"(?<=\S)[*_~`](?![^\W_])")


class Tables(Enum):
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


class MarkupWriter:
    """Writes plain text without spans. A platform's writer overrides what its markup has.

    Spans come outermost first.
    """

    layout = Layout()
    marks: ClassVar[Mapping[Kind, str]] = {}
    """What stands on both sides of inline text."""
    quote_prefix = "> "
    """What every line of a quote begins with."""
    nests_quotes = True

    def supported(self, run: Run) -> Spans:
        """The spans of a run that the platform can nest like this."""
        return run.spans

    def open(self, span: Span, *, again: bool) -> str:
        """What begins a span; `again` after a cut inside it."""
        return self.marks.get(span.kind, "")

    def close(self, span: Span, *, done: bool) -> str:
        """What ends a span; not `done` before a cut inside it."""
        return self.marks.get(span.kind, "")

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        """A run's text, escaped. `line_start`: only a list marker stands before it; a text of several lines always
        begins one."""
        return text

    def escaped(self, text: str) -> str:
        """A text without spans."""
        return self.text(text, Run(0, len(text), ()), line_start=True)

    def line_prefix(self, spans: Spans) -> str:
        depth = sum(span.kind is Kind.QUOTE for span in spans)
        return self.quote_prefix * (depth if self.nests_quotes else min(depth, 1))

    def source_limit(self, limit: TextLimit) -> TextLimit:
        """How long the markup itself may be where the visible text may be as long as `limit`."""
        return limit


def code_block_alone(spans: Spans) -> Spans:
    """The code block without the spans around it, for platforms that nest nothing with it."""
    return tuple(span for span in spans if span.kind is Kind.PRE) or spans


def outside_code(spans: Spans) -> Spans:
    """The spans less the emphasis that surrounds code, for platforms that cannot nest the two."""
    if not has(spans, *VERBATIM):
        return spans
    return tuple(span for span in spans if span.kind not in EMPHASIS)


def outside_addresses(text: str, escape: Callable[[str], str]) -> str:
    """Escapes a text, but for the addresses in it; an escape right after one is set apart by a space."""
    if "://" not in text:
        return escape(text)
    out, at = [], 0
    for address in ADDRESS.finditer(text):
        out += [_apart(text[at : address.start()], escape, after_address=at > 0), address.group()]
        at = address.end()
    return "".join([*out, _apart(text[at:], escape, after_address=at > 0)])


def _apart(text: str, escape: Callable[[str], str], *, after_address: bool) -> str:
    escaped = escape(text)
    return f" {escaped}" if after_address and text and escaped[0] != text[0] else escaped


def broken_fences(text: str) -> str:
    """Code in which no three backticks stand together, for platforms whose fence has a fixed length."""
    return re.sub("`(?=``)", f"`{ZERO_WIDTH}", text)


def between_fences(text: str) -> str:
    """Lines of code of which each may stand right between two fences of three backticks."""
    return _FENCED_EDGE.sub(ZERO_WIDTH, broken_fences(text)) if "`" in text else text


def marks_of(spans: Spans, marks: Mapping[Kind, str]) -> str:
    """The marks that stand around a run."""
    return "".join(marks[span.kind] for span in spans if span.kind in EMPHASIS)


def unmarked(text: str, marks: str) -> str:
    """Text that a platform without escapes does not take for emphasis or code.

    A zero-width space follows each mark that could begin emphasis and has its match later on the line, each
    of those in `marks`, which the emphasis around the text uses itself, and breaks up three backticks. Where there
    are many marks, one follows each.
    """
    count = sum(map(text.count, _UNESCAPED))
    if count == 0:
        return text
    if count > _MOST_MARKS:
        return outside_addresses(text, lambda piece: piece.translate(_ALL_SPACED))
    lines = broken_fences(text).split("\n")
    return "\n".join(outside_addresses(line, lambda piece: _unmarked(piece, marks)) for line in lines)


def _unmarked(text: str, marks: str) -> str:
    last = {closing.group(): closing.start() for closing in _CLOSING.finditer(text)}

    def spaced(match: re.Match[str]) -> str:
        mark, at = match.group(), match.start()
        if mark in marks or (_OPENING.match(text, at) and at + 1 < last.get(mark, 0)):
            return mark + ZERO_WIDTH
        return mark

    return _MARK.sub(spaced, text)
