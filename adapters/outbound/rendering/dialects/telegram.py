"""What Telegram's two markups share (https://core.telegram.org/bots/api#formatting-options)."""

from __future__ import annotations

from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.dialects.base import Base, outside_code
from adapters.outbound.rendering.flow import Kind, Run, Spans
from domain.channels.model import TextLimit, Unit

_LONGEST_SOURCE = TextLimit(30_000, Unit.BYTES)
"""The markup of one message: the servers cut what is longer than 35,000 before they parse it."""


class Telegram(Base):
    """Code cannot be nested with other entities; lengths are those of the text after parsing."""

    layout = Layout(backtick_in_code=True, mail_links=False)

    def keep(self, run: Run) -> Spans:
        spans = outside_code(run.spans)
        if has(spans, Kind.LINK):
            spans = tuple(span for span in spans if span.kind is not Kind.CODE)
        first_quote = next((span for span in spans if span.kind is Kind.QUOTE), None)
        return tuple(span for span in spans if span.kind is not Kind.QUOTE or span is first_quote)

    def source_limit(self, limit: TextLimit) -> TextLimit:
        return _LONGEST_SOURCE
