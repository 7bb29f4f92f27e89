"""Mattermost's Markdown (https://docs.mattermost.com/end-user-guide/collaborate/format-messages.html)."""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import Layout, Tables, has
from adapters.outbound.rendering.dialects.base import ZERO_WIDTH
from adapters.outbound.rendering.dialects.markdown import MarkdownDialect
from adapters.outbound.rendering.flow import VERBATIM, Kind, Run

_ENTITY = re.compile(r"&(?=#?\w+;)")
_EVERYBODY = re.compile(r"@(?=(?:all|channel|here)\b)", re.IGNORECASE)


class Mattermost(MarkdownDialect):
    """Headings, nested quotes and tables as in GitHub's Markdown; nobody is notified by accident.

    Its parser shows HTML as text, and takes a backslash for an escape before some punctuation alone
    (https://github.com/mattermost/marked).
    """

    layout = Layout(
        bullet="- ", indent=0, rule="---", heading_levels=6, tables=Tables.MARKDOWN, backtick_in_code=True
    )
    special = re.compile(r"[`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])|\\(?!\w)")

    def escape(self, text: str) -> str:
        return _ENTITY.sub("&amp;", super().escape(text))

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        escaped = super().text(text, run, line_start=line_start)
        if has(run.spans, *VERBATIM):
            return escaped.replace("|", "\\|") if has(run.spans, Kind.TABLE) else escaped
        return _EVERYBODY.sub(f"@{ZERO_WIDTH}", escaped)
