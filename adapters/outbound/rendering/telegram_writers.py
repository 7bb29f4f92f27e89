"""Telegram's three markups (https://core.telegram.org/bots/api#formatting-options)."""

from html import escape
from typing import ClassVar

from adapters.outbound.rendering.markup_writer import (
    Layout,
    MarkupWriter,
    between_fences,
    code_block_alone,
    outside_code,
)
from adapters.outbound.rendering.platform_writers import escapes
from adapters.outbound.rendering.styled_text import VERBATIM, Kind, Run, Span, Spans, has
from domain.channels.model import TextLimit, Unit

_LONGEST_SOURCE = TextLimit(30_000, Unit.BYTES)
"""The markup of one message: the servers cut what is longer than 35,000 before they parse it."""
_TAGS = {Kind.BOLD: "b", Kind.ITALIC: "i", Kind.STRIKE: "s", Kind.CODE: "code", Kind.QUOTE: "blockquote"}
_BY_WEIGHT = (Kind.PRE, Kind.CODE, Kind.LINK, Kind.BOLD, Kind.ITALIC)
_SPECIAL = escapes("_*`[")
_SPECIAL_V2 = escapes("_*[]()~`>#+-=|{}.!\\")
_IN_CODE = escapes("`\\")
_IN_ADDRESS = escapes(")\\")
_BRACKETS = str.maketrans("[]", "()")


class _Telegram(MarkupWriter):
    """Code cannot be nested with other entities; lengths are those of the text after parsing."""

    layout = Layout(backtick_in_code=True, mail_links=False)
    quote_prefix = ""
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        spans = outside_code(run.spans)
        if has(spans, Kind.LINK):
            spans = tuple(span for span in spans if span.kind is not Kind.CODE)
        first_quote = next((span for span in spans if span.kind is Kind.QUOTE), None)
        return tuple(span for span in spans if span.kind is not Kind.QUOTE or span is first_quote)

    def source_limit(self, limit: TextLimit) -> TextLimit:
        return _LONGEST_SOURCE


class TelegramHtml(_Telegram):
    """The tags that the Bot API knows, and no others (#html-style)."""

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return f'<a href="{escape(span.value)}">'
        if span.kind is Kind.PRE:
            language = f'<code class="language-{escape(span.value)}">' if span.value else ""
            return f"<pre>{language}{escape(span.header) if again else ''}"
        return f"<{_TAGS[span.kind]}>"

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return "</a>"
        if span.kind is Kind.PRE:
            return "</code></pre>" if span.value else "</pre>"
        return f"</{_TAGS[span.kind]}>"

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return escape(text, quote=False)


class TelegramMarkdown(_Telegram):
    """The first Markdown (#markdown-style), kept for older bots.

    One entity at a time: nothing is nested, and nothing is escaped inside an entity.
    """

    layout = Layout(mail_links=False)
    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.CODE: "`", Kind.PRE: "```"}

    def supported(self, run: Run) -> Spans:
        for kind in _BY_WEIGHT:
            for span in run.spans:
                if span.kind is kind:
                    return (span,)
        return ()

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return "["
        if span.kind is Kind.PRE:
            return f"```{span.value}\n{span.header if again else ''}"
        return self.marks[span.kind]

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return f"]({span.value.replace(')', '%29')})"
        return self.marks[span.kind]

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        supported = self.supported(run)
        if not supported:
            return text.translate(_SPECIAL)
        kind = supported[0].kind
        if kind is Kind.PRE:
            return between_fences(text)
        if kind is Kind.LINK:
            return text.translate(_BRACKETS)
        if kind is Kind.CODE:
            return text
        mark = self.marks[kind]
        return text.replace(mark, f"{mark}\\{mark}{mark}")


class TelegramMarkdownV2(_Telegram):
    """Every special character is escaped, whether it would mean something or not (#markdownv2-style)."""

    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`", Kind.PRE: "```"}
    quote_prefix = ">"

    def supported(self, run: Run) -> Spans:
        return code_block_alone(super().supported(run))

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return "["
        if span.kind is Kind.PRE:
            header = span.header.translate(_IN_CODE) if again else ""
            return f"```{span.value}\n{header}"
        return super().open(span, again=again)

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return "](" + span.value.translate(_IN_ADDRESS) + ")"
        return super().close(span, done=done)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return text.translate(_IN_CODE if has(run.spans, *VERBATIM) else _SPECIAL_V2)
