"""WhatsApp's formatting (https://faq.whatsapp.com/539178204879377), for the Cloud API and linked devices."""

from __future__ import annotations

from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.dialects.base import between_fences, marks_of, outside_code, unmarked
from adapters.outbound.rendering.dialects.plain import Plain
from adapters.outbound.rendering.flow import Kind, Run, Span, Spans

_MARKS = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`", Kind.PRE: "```"}


class WhatsApp(Plain):
    """Emphasis, code and quotes; there are no links with a text of their own, and no escapes."""

    layout = Layout(bullet="- ", indent=2, table_width=36)

    def keep(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return tuple(span for span in run.spans if span.kind is Kind.PRE)
        return tuple(span for span in outside_code(run.spans) if not span.tight)

    def open(self, span: Span, *, again: bool) -> str:
        return _MARKS.get(span.kind, "") + (span.header if again else "")

    def close(self, span: Span, *, done: bool) -> str:
        return _MARKS.get(span.kind) or super().close(span, done=done)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return between_fences(text)
        return text if has(run.spans, Kind.CODE) else unmarked(text, marks_of(run.spans, _MARKS))

    def line_prefix(self, spans: Spans) -> str:
        return "> " if has(spans, Kind.QUOTE) else ""
