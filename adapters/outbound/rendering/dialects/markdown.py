"""What the platforms share that read Markdown themselves."""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import has
from adapters.outbound.rendering.dialects.base import ZERO_WIDTH, Base, outside_addresses
from adapters.outbound.rendering.flow import LONGEST_FENCE, Kind, Run, Span

_LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s)|>|[-+](?=\s|[-\s]*$)|-#|~{3}|-{3})")
_UNDERLINE = re.compile(r"^(?=\s*=+\s*$)")
_NUMBER = re.compile(r"^(\s*\d{1,9})([.)])(?=\s|$)")
_LONG_ROW = re.compile(f"`{{{LONGEST_FENCE - 1}}}(?=`)")
_IN_ADDRESS = re.compile(r"([()\\<>])")


class MarkdownDialect(Base):
    """Markdown out of Markdown: `special` matches what has to be escaped anywhere in a text."""

    special: re.Pattern[str]

    def open(self, span: Span, *, again: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return "["
            case Kind.PRE:
                return f"{self.fence(span)}{span.value}\n{span.header if again else ''}"
            case Kind.HEADING:
                return "#" * int(span.value) + " "
            case Kind.TABLE:
                return span.header if again else ""
            case _:
                return self.mark(span)

    def close(self, span: Span, *, done: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return "](" + _IN_ADDRESS.sub(r"\\\1", span.value) + ")"
            case Kind.PRE:
                return f"\n{self.fence(span)}"
            case _:
                return self.mark(span)[::-1]

    def mark(self, span: Span) -> str:
        """What stands before an inline span, and reversed after it."""
        match span.kind:
            case Kind.BOLD:
                return "**"
            case Kind.ITALIC:
                return "*" if span.tight else "_"
            case Kind.STRIKE:
                return "~~"
            case Kind.CODE:
                return span.fence if span.fence == "`" else f"{span.fence} "
            case _:
                return ""

    def fence(self, span: Span) -> str:
        """What stands above and below a code block."""
        return span.fence

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return _LONG_ROW.sub(rf"\g<0>{ZERO_WIDTH}", text)
        if run.structure or has(run.spans, Kind.CODE):
            return text
        in_link = has(run.spans, Kind.LINK)
        escaped = self.escape(text) if in_link else outside_addresses(text, self.escape)
        if not line_start:
            return escaped
        escaped = _UNDERLINE.sub(ZERO_WIDTH, escaped)
        return _NUMBER.sub(r"\1\\\2", _LINE_START.sub(r"\1\\\2", escaped))

    def escape(self, text: str) -> str:
        """A text in which nothing is markup."""
        return self.special.sub(r"\\\g<0>", text)
