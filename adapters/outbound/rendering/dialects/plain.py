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
        return f" ({shown(span.value)})" if span.kind is Kind.LINK and done else ""
