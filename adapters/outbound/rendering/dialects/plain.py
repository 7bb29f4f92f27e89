"""Plain text: SMS, and the fallback of every other markup."""

from __future__ import annotations

from adapters.outbound.rendering.dialect import Layout, Tables
from adapters.outbound.rendering.dialects.base import Base
from adapters.outbound.rendering.flow import Kind, Span
from adapters.outbound.rendering.parsing import shown


class Plain(Base):
    """Nothing but text; the address of a link follows it in brackets."""

    layout = Layout(bullet="- ", indent=2, rule="----------", tables=Tables.LINES)

    def close(self, span: Span, *, done: bool) -> str:
        is_seen = span.kind is not Kind.LINK or span.bare
        return "" if is_seen or not done else f" ({shown(span.value)})"
