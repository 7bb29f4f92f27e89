"""Telegram's HTML (https://core.telegram.org/bots/api#html-style)."""

from __future__ import annotations

from html import escape

from adapters.outbound.rendering.dialects.telegram import Telegram
from adapters.outbound.rendering.flow import Kind, Run, Span, Spans

_TAGS = {
    Kind.BOLD: "b",
    Kind.ITALIC: "i",
    Kind.STRIKE: "s",
    Kind.CODE: "code",
    Kind.QUOTE: "blockquote",
}


class TelegramHtml(Telegram):
    """The tags that the Bot API knows, and no others."""

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

    def line_prefix(self, spans: Spans) -> str:
        return ""
