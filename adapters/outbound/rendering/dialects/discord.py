"""Discord's Markdown (https://support.discord.com/hc/en-us/articles/210298617)."""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.dialects.base import broken_fences
from adapters.outbound.rendering.dialects.markdown import MarkdownDialect
from adapters.outbound.rendering.flow import Kind, Run, Span, Spans


class Discord(MarkdownDialect):
    """Three levels of headings, one of quotes, no tables; code fences of three backticks alone."""

    layout = Layout(bullet="- ", indent=0, heading_levels=3, backtick_in_code=True, mail_links=False)
    special = re.compile(r"[\\`*\[<]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|\|(?=\|)")

    def fence(self, span: Span) -> str:
        return "```"

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return broken_fences(text)
        return super().text(text, run, line_start=line_start)

    def line_prefix(self, spans: Spans) -> str:
        return "> " if has(spans, Kind.QUOTE) else ""
