"""Telegram's MarkdownV2 (https://core.telegram.org/bots/api#markdownv2-style)."""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import has
from adapters.outbound.rendering.dialects.telegram import Telegram
from adapters.outbound.rendering.flow import VERBATIM, Kind, Run, Span, Spans

_MARKS = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`"}
_SPECIAL = re.compile(r"([_*\[\]()~`>#+\-=|{}.!\\])")
_IN_CODE = re.compile(r"([`\\])")
_IN_ADDRESS = re.compile(r"([)\\])")


class TelegramMarkdownV2(Telegram):
    """Every special character is escaped, whether it would mean something or not."""

    def keep(self, run: Run) -> Spans:
        spans = super().keep(run)
        code_block = has(spans, Kind.PRE)
        return tuple(span for span in spans if not code_block or span.kind is Kind.PRE)

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return "["
        if span.kind is Kind.PRE:
            header = _IN_CODE.sub(r"\\\1", span.header) if again else ""
            return f"```{span.value}\n{header}"
        return _MARKS.get(span.kind, "")

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return "](" + _IN_ADDRESS.sub(r"\\\1", span.value) + ")"
        return "```" if span.kind is Kind.PRE else _MARKS.get(span.kind, "")

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return (_IN_CODE if has(run.spans, *VERBATIM) else _SPECIAL).sub(r"\\\1", text)

    def line_prefix(self, spans: Spans) -> str:
        return ">" if has(spans, Kind.QUOTE) else ""
