"""Telegram's first Markdown (https://core.telegram.org/bots/api#markdown-style), kept for older bots."""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import Layout
from adapters.outbound.rendering.dialects.base import between_fences
from adapters.outbound.rendering.dialects.telegram import Telegram
from adapters.outbound.rendering.flow import Kind, Run, Span, Spans

_MARKS = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.CODE: "`"}
_BY_WEIGHT = (Kind.PRE, Kind.CODE, Kind.LINK, Kind.BOLD, Kind.ITALIC)
_SPECIAL = re.compile(r"([_*`\[])")
_BRACKETS = str.maketrans("[]", "()")


class TelegramMarkdown(Telegram):
    """One entity at a time: nothing is nested, and nothing is escaped inside an entity."""

    layout = Layout(mail_links=False)

    def keep(self, run: Run) -> Spans:
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
        return _MARKS[span.kind]

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return f"]({span.value.replace(')', '%29')})"
        return "```" if span.kind is Kind.PRE else _MARKS[span.kind]

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        kept = self.keep(run)
        if not kept:
            return _SPECIAL.sub(r"\\\1", text)
        if kept[0].kind is Kind.PRE:
            return between_fences(text)
        if kept[0].kind is Kind.LINK:
            return text.translate(_BRACKETS)
        if kept[0].kind is Kind.CODE:
            return text
        mark = _MARKS[kept[0].kind]
        return text.replace(mark, f"{mark}\\{mark}{mark}")

    def line_prefix(self, spans: Spans) -> str:
        return ""
