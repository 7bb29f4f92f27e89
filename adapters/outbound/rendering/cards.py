"""An adaptive card's body: text as TextBlocks, code and aligned tables in a fixed-width font, quotes as containers.

https://adaptivecards.io/explorer/TextBlock.html. A TextBlock has no code, no headings and no quotes in its Markdown,
and collapses spaces; a line of code is a TextBlock of its own, since a single line end within one is a space.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.rendering.composing import compose, verbatim
from adapters.outbound.rendering.cuts import breaks
from adapters.outbound.rendering.dialects.plain import Plain
from adapters.outbound.rendering.dialects.text_block import TextBlock
from adapters.outbound.rendering.flow import Kind, Run, Span, StyledText
from adapters.outbound.rendering.model import Rendered
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.script import RenderedText
from domain.channels.model import TextLimit, Unit
from domain.routing.cutting import Cutter, measure

Element = dict[str, Any]
_DIALECT = TextBlock()
_SIZES = {"1": "Large", "2": "Medium"}
_ALONE = (Kind.PRE, Kind.HEADING)
"""Blocks that are elements of their own."""
_LEAST_AROUND = 40
"""Characters of JSON that every element has at least around its text."""


def render_cards(markdown: str, limit: TextLimit | None) -> list[Rendered]:
    """A Markdown text as bodies of cards: `text` is the JSON of the array `body`, which is within `limit`."""
    room = limit.size // 4 if limit else None
    flow = compose(parsed(markdown), _DIALECT, room)
    if not flow.text.strip():
        flow = verbatim(markdown)
    unit = limit.unit if limit else Unit.CHARACTERS
    body = _Body(flow, unit)
    plain = RenderedText(flow, Plain(), unit)
    if limit is None:
        end = len(flow.text.rstrip())
        return [Rendered(body.json(0, end), plain.text(0, end))] if end else []

    def fits(start: int, end: int) -> bool:
        shortest = max(plain.length(start, end), body.least(start, end))
        return shortest <= limit.size and measure(body.json(start, end, limit.size), unit) <= limit.size

    pieces = Cutter(flow.text, breaks(flow), fits, limit.size).pieces()
    return [Rendered(body.json(start, end), plain.text(start, end)) for start, end in pieces]


def literal_body(text: str) -> str:
    """The body of a card that shows a text as it is written."""
    flow = verbatim(text)
    return _Body(flow, Unit.CHARACTERS).json(0, len(text))


class _Body:
    """The elements of any stretch of a flow."""

    def __init__(self, flow: StyledText, unit: Unit) -> None:
        self._flow = flow
        self._script = RenderedText(flow, _DIALECT, unit)

    def json(self, start: int, end: int, most: int | None = None) -> str:
        """The elements of [start, end); broken off where they are surely longer than `most`."""
        return json.dumps(self._elements(start, end, most), ensure_ascii=False, separators=(",", ":"))

    def least(self, start: int, end: int) -> int:
        """A length that the elements have at least, which is known at once."""
        return self._script.length(start, end) if start < end else 0

    def _elements(self, start: int, end: int, most: int | None) -> list[Element]:
        body: list[Element] = []
        length = 0
        for low, high, quotes, alone in self._stretches(start, end):
            items = body
            for _ in range(quotes):
                if not items or items[-1]["type"] != "Container":
                    items.append({"type": "Container", "style": "emphasis", "items": []})
                items = items[-1]["items"]
            blocks = self._blocks(low, high, alone)
            items.extend(blocks)
            length += sum(len(each["text"]) + _LEAST_AROUND for each in blocks)
            if most is not None and length > most:
                break
        return body

    def _stretches(self, start: int, end: int) -> Iterator[tuple[int, int, int, Span | None]]:
        """[start, end) in stretches of one block each, without the white space between them."""
        pending: tuple[int, int, int, Span | None] | None = None
        for run in self._runs(start, end):
            quotes = sum(span.kind is Kind.QUOTE for span in run.spans)
            alone = next((span for span in run.spans if span.kind in _ALONE), None)
            if pending and pending[2:] == (quotes, alone):
                pending = (pending[0], run.end, quotes, alone)
                continue
            if pending:
                yield pending
            pending = (run.start, run.end, quotes, alone)
        if pending:
            yield pending

    def _runs(self, start: int, end: int) -> Iterator[Run]:
        run = self._flow.run_at(start)
        while run and run.start < end:
            low, high = max(run.start, start), min(run.end, end)
            if self._flow.text[low:high].strip():
                yield Run(low, high, run.spans, run.structure)
            run = self._flow.run_at(run.end)

    def _blocks(self, start: int, end: int, alone: Span | None) -> Sequence[Element]:
        if alone is not None and alone.kind is Kind.PRE:
            return _code(self._flow.text[start:end], alone.header if start > alone.begin else "")
        text = self._script.text(start, end).strip("\n")
        if alone is None:
            return [_text_block(text)] if text.strip() else []
        return [_text_block(text, size=_SIZES.get(alone.value, "Default"), weight="Bolder")]


def _code(code: str, header: str) -> list[Element]:
    lines = (header + code).strip("\n").split("\n")
    blocks = [_text_block(_DIALECT.code_line(line), fontType="Monospace") for line in lines]
    for block in blocks[1:]:
        block["spacing"] = "None"
    return blocks


def _text_block(text: str, **look: str) -> Element:
    return {"type": "TextBlock", "text": text, "wrap": True, **look}
