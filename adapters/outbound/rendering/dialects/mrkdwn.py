"""Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text)."""

from __future__ import annotations

from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.dialects.base import (
    ZERO_WIDTH,
    Base,
    broken_fences,
    marks_of,
    outside_code,
    unmarked,
)
from adapters.outbound.rendering.flow import Kind, Run, Span, Spans

_MARKS = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`"}


class Mrkdwn(Base):
    """No nesting in code or links; line ends end emphasis; & < > are escaped as entities."""

    layout = Layout()

    def keep(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return tuple(span for span in run.spans if span.kind is Kind.PRE)
        if has(run.spans, Kind.LINK):
            return tuple(span for span in run.spans if span.kind is not Kind.CODE)
        return outside_code(run.spans)

    def open(self, span: Span, *, again: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return f"<{_address(span.value)}|"
            case Kind.PRE:
                return "```\n" + (_entities(span.header) if again else "")
            case _:
                mark = _MARKS.get(span.kind, "")
                return ZERO_WIDTH + mark if mark and span.tight else mark

    def close(self, span: Span, *, done: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return ">"
            case Kind.PRE:
                return "\n```"
            case _:
                mark = _MARKS.get(span.kind, "")
                return mark + ZERO_WIDTH if mark and span.tight else mark

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return _entities(broken_fences(text))
        if has(run.spans, Kind.CODE):
            return _entities(text)
        escaped = _entities(unmarked(text, marks_of(run.spans, _MARKS)))
        quoted = line_start and not run.structure and escaped.startswith("&gt;")
        return ZERO_WIDTH + escaped if quoted else escaped

    def line_prefix(self, spans: Spans) -> str:
        return "> " if has(spans, Kind.QUOTE) else ""


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _address(address: str) -> str:
    return _entities(address.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C"))
