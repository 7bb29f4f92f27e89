"""Microsoft Teams: the Markdown of bot messages.

https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/format-your-bot-messages
"""

from __future__ import annotations

import re

from adapters.outbound.rendering.dialect import Layout
from adapters.outbound.rendering.dialects.markdown import MarkdownDialect


class Teams(MarkdownDialect):
    """No headings and no tables; a line ends only where a paragraph does; < begins a tag."""

    layout = Layout(bullet="- ", indent=0, line_break="\n\n", backtick_in_code=True)
    special = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|~")

    def escape(self, text: str) -> str:
        return super().escape(text).replace("&", "&amp;").replace("<", "&lt;")
