"""The Markdown of an adaptive card's TextBlock: bold, italic, lists and links, and nothing else.

https://learn.microsoft.com/en-us/adaptive-cards/authoring-cards/text-features
"""

import re

from adapters.outbound.rendering.markup_writer import ZERO_WIDTH, Layout
from adapters.outbound.rendering.styled_text import Kind, Run, Span, Spans
from adapters.outbound.rendering.writers.markdown import MarkdownWriter, escapes

_KEPT = (Kind.BOLD, Kind.ITALIC, Kind.LINK)
_ITEM = re.compile(r"^([^\S\n]*)([-+](?=\s|$))", re.MULTILINE)
_NUMBER = re.compile(r"^([^\S\n]*\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_READ_BY_SOME = re.compile(r"&(?=#?\w+;)|<(?=/?at\b)|\{(?=\{(?:DATE|TIME)\()")
"""Entities and mentions, which some clients read and others show, and the functions for dates."""
_SPACES = re.compile(r"^ +| {2,}")
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


class TextBlock(MarkdownWriter):
    """Headings, quotes and code are elements of their own in a card; here they are text."""

    layout = Layout(
        bullet="- ", indent=0, line_break="\n\n", heading_levels=6, backtick_in_code=True, bare_links=False
    )
    special = escapes("\\*`[]")
    quote_prefix = ""

    def supported(self, run: Run) -> Spans:
        return tuple(span for span in run.spans if span.kind in _KEPT)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if run.structure:
            return text
        escaped = self.escape(text)
        return _NUMBER.sub(r"\1\\\2", _ITEM.sub(r"\1\\\2", escaped)) if line_start else escaped

    def escape(self, text: str) -> str:
        return _READ_BY_SOME.sub(rf"\g<0>{ZERO_WIDTH}", super().escape(text))

    def code_line(self, line: str) -> str:
        """A line of code whose spaces are kept.

        Clients cut white space off at the edges of a TextBlock, no-break spaces too, but no zero-width space.
        """
        shown = self.text(line.expandtabs(4).rstrip(), Run(0, len(line), (Span(Kind.PRE),)), line_start=True)
        kept = _SPACES.sub(lambda spaces: NO_BREAK_SPACE * len(spaces.group()), shown) or NO_BREAK_SPACE
        return ZERO_WIDTH + kept if kept.startswith(NO_BREAK_SPACE) else kept
