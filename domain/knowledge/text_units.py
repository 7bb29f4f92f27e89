"""Cuts blocks into units, the stretches of text that a chunk holds whole, and measures them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from domain.knowledge.documents import Block, BlockKind

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""How many tokens of the embedding model each text takes, without the marks for start and end."""
SENTENCE_END = re.compile(
    r"(?<=[.!?\u3002\uff01\uff1f\u061f\u0964])[\"'\u201d\u2019)\]]*\s+|\n\s*\n|(?<=[\u3002\uff01\uff1f])"
)
_LINE_END = re.compile(r"\n+")
_WHOLE = frozenset({BlockKind.TABLE_ROW, BlockKind.FIELD, BlockKind.SPEECH})
_PROSE = frozenset(
    {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.NOTE, BlockKind.HEADING, BlockKind.MARGIN}
)
_TOKENS_OF_A_WORD = 2.5
"""Prose in Latin script has fewer; codes, figures and scripts without blanks have more."""
_MAX_UNIT_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes. Prose is cut by words, rows, fields and scripts without blanks by tokens of the model.

    120 words, greedily packed, found most on judged collections: half of it tears what belongs together, twice
    as much blurs what it is about.
    """

    words: int = 120
    tokens: int = 160
    maximum: int = 254
    context: int = 64
    overlap_words: int = 20
    least_words: int = 15


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of the text that stays whole: a sentence, a row, a segment.

    `size` is its share of a chunk; what stands in every chunk's context takes none.
    """

    start: int
    end: int
    tokens: int
    words: int
    size: float
    block: Block


@dataclass(eq=False)
class Measure:
    """Cuts blocks into units, and counts tokens: those of many blocks at once, which costs far less."""

    title: str
    count_tokens: CountTokens
    limits: Limits
    _known: dict[str, int] = field(default_factory=dict, init=False)

    def learn(self, blocks: Iterable[Block]) -> None:
        """Counts the tokens of all units of these blocks, which are to be cut next."""
        texts = {
            block.text[start:end]
            for block in blocks
            for start, end in _spans(block)
            if end - start <= _MAX_UNIT_CHARS
        }
        self._known = dict(zip(texts, self.count_tokens(list(texts)), strict=True))

    def tokens(self, text: str) -> int:
        known = self._known.get(text)
        return self.count_tokens([text])[0] if known is None else known

    def context(self, block: Block) -> str:
        """The title, the sheet and the headings above a block, as far as there is room."""
        most = self.limits.context
        sheet = (block.sheet,) if block.sheet else ()
        path = (self.title, *sheet, *block.heading_path)
        lines = list(dict.fromkeys(part.strip() for part in path if part.strip()))
        while len(lines) > 1 and self.tokens("\n".join(lines)) > most:
            del lines[1]
        context = "\n".join(lines)
        while (tokens := self.tokens(context)) > most:
            context = context[: len(context) * most // (tokens + 1)]
        return context

    def units(self, block: Block, room: int) -> Iterator[Unit]:
        """The units of a block; each fits `room` tokens."""
        most = room if block.kind in _WHOLE else min(room, self.limits.maximum * 3 // 4)
        for start, end in _spans(block):
            in_context = block.kind is BlockKind.HEADING or block.text[start:end].strip() == self.title
            yield from self._fitting(block, start, end, most, in_context)

    def _fitting(self, block: Block, start: int, end: int, most: int, in_context: bool) -> Iterator[Unit]:
        """The stretch whole, or halved (best at a line's or cell's end, or a blank) until each part fits."""
        if end - start <= _MAX_UNIT_CHARS:
            text = block.text[start:end]
            tokens = self.tokens(text)
            if tokens <= most or end - start <= 1:
                words = len(text.split())
                if in_context:
                    size = 0.0
                elif block.kind in _PROSE and tokens <= words * _TOKENS_OF_A_WORD:
                    size = words / self.limits.words
                else:
                    size = tokens / self.limits.tokens
                yield Unit(block.start + start, block.start + end, tokens, words, size, block)
                return
        middle = _middle(block.text, start, end)
        yield from self._fitting(block, start, middle, most, in_context)
        yield from self._fitting(block, middle, end, most, in_context)


def _spans(block: Block) -> Iterator[tuple[int, int]]:
    """What may stay whole: a row, else lines of code, else sentences."""
    text = block.text
    if block.kind in _WHOLE:
        edges = [0, len(text)]
    else:
        ends = _LINE_END if block.kind is BlockKind.CODE else SENTENCE_END
        edges = sorted({0, *(match.end() for match in ends.finditer(text)), len(text)})
    for start, end in pairwise(edges):
        if text[start:end].strip():
            yield start, end


def _middle(text: str, start: int, end: int) -> int:
    middle = (start + end) // 2
    for mark in ("\n", " | ", " "):
        before = text.rfind(mark, start + (middle - start) // 2, middle)
        if before > start:
            return before + len(mark)
    return middle
