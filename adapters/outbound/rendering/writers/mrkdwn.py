"""Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text)."""

import re
from typing import ClassVar

from adapters.outbound.rendering.markup_writer import (
    ZERO_WIDTH,
    MarkupWriter,
    broken_fences,
    code_block_alone,
    marks_of,
    outside_code,
    unmarked,
)
from adapters.outbound.rendering.styled_text import Kind, Run, Span, Spans, has

_QUOTED = re.compile("^(?=&gt;)", re.MULTILINE)


class Mrkdwn(MarkupWriter):
    """No nesting in code or links; line ends end emphasis; & < > are escaped as entities."""

    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`"}
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return code_block_alone(run.spans)
        if has(run.spans, Kind.LINK):
            return tuple(span for span in run.spans if span.kind is not Kind.CODE)
        return outside_code(run.spans)

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return f"<{_address(span.value)}|"
        if span.kind is Kind.PRE:
            return "```\n" + (_entities(span.header) if again else "")
        mark = super().open(span, again=again)
        return ZERO_WIDTH + mark if mark and span.tight else mark

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return ">"
        if span.kind is Kind.PRE:
            return "\n```"
        mark = super().close(span, done=done)
        return mark + ZERO_WIDTH if mark and span.tight else mark

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return _entities(broken_fences(text))
        if has(run.spans, Kind.CODE):
            return _entities(text)
        escaped = _entities(unmarked(text, marks_of(run.spans, self.marks)))
        return _QUOTED.sub(ZERO_WIDTH, escaped) if line_start and not run.structure else escaped


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _address(address: str) -> str:
    return _entities(address.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C"))
