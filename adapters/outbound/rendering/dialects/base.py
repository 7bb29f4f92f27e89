"""What the dialects share."""

from __future__ import annotations

import re
from collections.abc import Callable

from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.flow import VERBATIM, Kind, Run, Span, Spans
from domain.channels.model import Unit
from domain.routing.cutting import measure

ZERO_WIDTH = "\u200b"
"""Keeps two characters from being read as markup where a platform has no escape; it is not seen."""

ADDRESS = re.compile(r"https?://[^\s<>]+")


class Base:
    """A dialect without any markup of its own: spans vanish, addresses follow their text."""

    layout = Layout()

    def keep(self, run: Run) -> Spans:
        return run.spans

    def open(self, span: Span, *, again: bool) -> str:
        return ""

    def close(self, span: Span, *, done: bool) -> str:
        return ""

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return text

    def line_prefix(self, spans: Spans) -> str:
        return "> " * sum(span.kind is Kind.QUOTE for span in spans)

    def length(self, text: str, plain: str, unit: Unit) -> int:
        return max(measure(text, unit), measure(plain, unit))


def outside_code(spans: Spans) -> Spans:
    """The spans less the emphasis that surrounds code, for platforms that cannot nest the two."""
    if not has(spans, *VERBATIM):
        return spans
    return tuple(span for span in spans if span.kind not in (Kind.BOLD, Kind.ITALIC, Kind.STRIKE))


def outside_addresses(text: str, escape: Callable[[str], str]) -> str:
    """Escapes a text, but for the addresses in it: an escape inside would be part of the link."""
    out, at = [], 0
    for address in ADDRESS.finditer(text):
        out += [escape(text[at : address.start()]), address.group()]
        at = address.end()
    return "".join([*out, escape(text[at:])])


def broken_fences(text: str) -> str:
    """Code in which no three backticks stand together, for platforms whose fence has a fixed length."""
    return re.sub("`(?=``)", f"`{ZERO_WIDTH}", text)
