"""What the dialects share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from adapters.outbound.rendering.addresses import ADDRESS
from adapters.outbound.rendering.dialect import Layout, has
from adapters.outbound.rendering.flow import EMPHASIS, VERBATIM, Kind, Run, Span, Spans
from domain.channels.model import TextLimit

ZERO_WIDTH = "\u200b"
"""Keeps two characters from being read as markup where a platform has no escape; it is not seen."""

_MARK = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])")
_OPENING = re.compile(r"(?<![^\W_])[*_~`](?=\S)")
_CLOSING = re.compile(r"(?<=\S)[*_~`](?![^\W_])")


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

    def source_limit(self, limit: TextLimit) -> TextLimit:
        return limit


def outside_code(spans: Spans) -> Spans:
    """The spans less the emphasis that surrounds code, for platforms that cannot nest the two."""
    if not has(spans, *VERBATIM):
        return spans
    return tuple(span for span in spans if span.kind not in EMPHASIS)


def outside_addresses(text: str, escape: Callable[[str], str]) -> str:
    """Escapes a text, but for the addresses in it; an escape right after one is set apart by a space."""
    out, at = [], 0
    for address in ADDRESS.finditer(text):
        out += [_apart(text[at : address.start()], escape, after_address=at > 0), address.group()]
        at = address.end()
    return "".join([*out, _apart(text[at:], escape, after_address=at > 0)])


def _apart(text: str, escape: Callable[[str], str], *, after_address: bool) -> str:
    escaped = escape(text)
    return f" {escaped}" if after_address and text and escaped[0] != text[0] else escaped


def broken_fences(text: str) -> str:
    """Code in which no three backticks stand together, for platforms whose fence has a fixed length."""
    return re.sub("`(?=``)", f"`{ZERO_WIDTH}", text)


def between_fences(text: str) -> str:
    """Code that may stand right between two fences of three backticks."""
    before = ZERO_WIDTH if text.startswith("`") else ""
    after = ZERO_WIDTH if text.endswith("`") else ""
    return f"{before}{broken_fences(text)}{after}"


def marks_of(spans: Spans, marks: Mapping[Kind, str]) -> str:
    """The marks that stand around a run."""
    return "".join(marks[span.kind] for span in spans if span.kind in EMPHASIS)


def unmarked(text: str, marks: str) -> str:
    """Text that a platform without escapes does not take for emphasis or code.

    A zero-width space follows each mark that could begin emphasis and has its match later on the line, each
    of those in `marks`, which the emphasis around the text uses itself, and breaks up three backticks.
    """
    return outside_addresses(broken_fences(text), lambda piece: _unmarked(piece, marks))


def _unmarked(text: str, marks: str) -> str:
    last = {closing.group(): closing.start() for closing in _CLOSING.finditer(text)}

    def spaced(found: re.Match[str]) -> str:
        mark, at = found.group(), found.start()
        if mark in marks or (_OPENING.match(text, at) and at + 1 < last.get(mark, 0)):
            return mark + ZERO_WIDTH
        return mark

    return _MARK.sub(spaced, text)
