"""The Markdown of an adaptive card's TextBlock: bold, italic, lists and links, and nothing else.

https://learn.microsoft.com/en-us/adaptive-cards/authoring-cards/text-features

An adaptive card's body: text as TextBlocks, code and aligned tables in a fixed-width font, quotes as containers.

https://adaptivecards.io/explorer/TextBlock.html. A TextBlock has no code, no headings and no quotes in its Markdown,
and collapses spaces; a line of code is a TextBlock of its own, since a single line end within one is a space.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.rendering.composing import compose, verbatim
from adapters.outbound.rendering.cutting import as_written, measure
from adapters.outbound.rendering.markup_writer import ZERO_WIDTH, Layout
from adapters.outbound.rendering.model import Rendered
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.platform_writers import MarkdownWriter, Plain, escapes
from adapters.outbound.rendering.rendered_text import RenderedText
from adapters.outbound.rendering.styled_text import Kind, Run, Span, Spans, StyledText, pieces
from domain.channels.model import TextLimit, Unit
from domain.rendering import is_read_as_markdown

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


Element = dict[str, Any]
_WRITER = TextBlock()
_SIZES = {"1": "Large", "2": "Medium"}
_ALONE = (Kind.PRE, Kind.HEADING)
"""Blocks that are elements of their own."""
_LEAST_AROUND = 40
"""Characters of JSON that every element has at least around its text."""


def render_cards(markdown: str, limit: TextLimit | None) -> list[Rendered]:
    """A Markdown text as bodies of cards: `text` is the JSON of the array `body`, which is within `limit`."""
    if not is_read_as_markdown(markdown):
        return list(as_written(markdown, limit, literal_body, limit))
    styled = compose(parsed(markdown), _WRITER, limit.size // 4 if limit else None)
    if not styled.text.strip():
        styled = verbatim(markdown)
    unit = limit.unit if limit else Unit.CHARACTERS
    body = _Body(styled, unit)
    plain = RenderedText(styled, Plain(), unit)
    if limit is None:
        end = len(styled.text.rstrip())
        return [Rendered(body.json(0, end), plain.text(0, end))] if end else []

    def fits(start: int, end: int) -> bool:
        shortest = max(plain.length(start, end), body.least(start, end))
        return shortest <= limit.size and measure(body.json(start, end, limit.size), unit) <= limit.size

    stretches = pieces(styled, fits, limit.size)
    return [Rendered(body.json(start, end), plain.text(start, end)) for start, end in stretches]


def literal_body(text: str) -> str:
    """The body of a card that shows a text as it is written."""
    return _json([_text_block(_WRITER.escaped(text).strip("\n"))] if text.strip() else [])


def _json(elements: Sequence[Element]) -> str:
    return json.dumps(elements, ensure_ascii=False, separators=(",", ":"))


class _Body:
    def __init__(self, styled: StyledText, unit: Unit) -> None:
        self._styled = styled
        self._rendered = RenderedText(styled, _WRITER, unit)

    def json(self, start: int, end: int, most: int | None = None) -> str:
        """The elements of [start, end); broken off where they are surely longer than `most`."""
        body: list[Element] = []
        length = 0
        for low, high, quotes, alone in self._stretches(start, end):
            items = body
            for _ in range(quotes):
                if not items or items[-1]["type"] != "Container":
                    items.append({"type": "Container", "style": "emphasis", "items": []})
                items = items[-1]["items"]
            blocks = self._blocks(low, high, alone, most)
            items.extend(blocks)
            length += sum(len(block["text"]) + _LEAST_AROUND for block in blocks)
            if most is not None and length > most:
                break
        return _json(body)

    def least(self, start: int, end: int) -> int:
        """A length that the elements have at least, which is known at once."""
        return self._rendered.length(start, end) if start < end else 0

    def _stretches(self, start: int, end: int) -> Iterator[tuple[int, int, int, Span | None]]:
        """[start, end) in stretches of one block each, without the white space between them."""
        pending: tuple[int, int, int, Span | None] | None = None
        run = self._styled.run_at(start)
        while run and run.start < end:
            low, high = max(run.start, start), min(run.end, end)
            if self._styled.text[low:high].strip():
                quotes = sum(span.kind is Kind.QUOTE for span in run.spans)
                alone = next((span for span in run.spans if span.kind in _ALONE), None)
                if pending and pending[2:] == (quotes, alone):
                    low = pending[0]
                elif pending:
                    yield pending
                pending = (low, high, quotes, alone)
            run = self._styled.run_at(run.end)
        if pending:
            yield pending

    def _blocks(self, start: int, end: int, alone: Span | None, most: int | None) -> Sequence[Element]:
        if alone is not None and alone.kind is Kind.PRE:
            code = (alone.header if start > alone.begin else "") + self._styled.text[start:end]
            lines = code.strip("\n").split("\n")[: None if most is None else most // _LEAST_AROUND + 1]
            blocks = [_text_block(_WRITER.code_line(line), fontType="Monospace") for line in lines]
            for block in blocks[1:]:
                block["spacing"] = "None"
            return blocks
        text = self._rendered.text(start, end).strip("\n")
        if alone is None:
            return [_text_block(text)] if text.strip() else []
        return [_text_block(text, size=_SIZES.get(alone.value, "Default"), weight="Bolder")]


def _text_block(text: str, **look: str) -> Element:
    return {"type": "TextBlock", "text": text, "wrap": True, **look}
