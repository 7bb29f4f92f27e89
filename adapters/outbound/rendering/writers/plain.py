"""Plain text (SMS, and the fallback of every other markup), and WhatsApp's formatting on top of it."""

from typing import ClassVar

from adapters.outbound.rendering.markup_writer import (
    Layout,
    MarkupWriter,
    Tables,
    between_fences,
    code_block_alone,
    marks_of,
    outside_code,
    unmarked,
)
from adapters.outbound.rendering.parsing import shown
from adapters.outbound.rendering.styled_text import Kind, Run, Span, Spans, has


class Plain(MarkupWriter):
    """Nothing but text; the address of a link follows it in brackets."""

    layout = Layout(bullet="- ", indent=2, rule="----------", tables=Tables.LINES)

    def close(self, span: Span, *, done: bool) -> str:
        is_seen = span.kind is not Kind.LINK or span.bare
        return "" if is_seen or not done else f" ({shown(span.value)})"


class WhatsApp(Plain):
    """The Cloud API and linked devices (https://faq.whatsapp.com/539178204879377).

    Emphasis, code and quotes; there are no links with a text of their own, and no escapes.
    """

    layout = Layout(bullet="- ", indent=2, table_width=36)
    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`", Kind.PRE: "```"}
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return code_block_alone(run.spans)
        return tuple(span for span in outside_code(run.spans) if not span.tight)

    def open(self, span: Span, *, again: bool) -> str:
        return super().open(span, again=again) + (span.header if again else "")

    def close(self, span: Span, *, done: bool) -> str:
        return self.marks.get(span.kind) or super().close(span, done=done)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return between_fences(text)
        return text if has(run.spans, Kind.CODE) else unmarked(text, marks_of(run.spans, self.marks))
