"""Cuts a document into chunks: whole sentences, rows, slides and sections, within the model's window.

Every chunk is a stretch of the document's own text; together they hold every word of it, but for running headers,
page numbers and tables of contents: these are cut only where a document holds nothing else. A chunk's context
(title and headings) is put in front of it for embedding and index alone: without it a passage that never
repeats what it is about is not found.

A document is cut while it is read: of its blocks those are held that the next chunk may still take up.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from domain.knowledge.documents import APART, Block, BlockKind, Document
from domain.knowledge.index_words import index_words
from domain.knowledge.model import Piece, searchable
from domain.knowledge.places import metadata
from domain.knowledge.titles import title_of

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
        middle = (start + end) // 2
        for mark in ("\n", " | ", " "):
            before = block.text.rfind(mark, start + (middle - start) // 2, middle)
            if before > start:
                middle = before + len(mark)
                break
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


_LONGEST_SEPARATOR = 2
MOST_HELD = 2_000
"""So many headings in a row, or blocks that are cut only where there is nothing else, are waited with; then they are
cut, whatever follows."""


def chunk(
    document: Document, file_name: str, count_tokens: CountTokens, limits: Limits | None = None
) -> list[Piece]:
    """The chunks of a document that has been read."""
    chunker = Chunker(title_of(document, file_name), count_tokens, limits)
    return [*chunker.take(document.blocks), *chunker.end()]


class Chunker:
    """Cuts blocks, which come in order and know where they stand in the document's text."""

    def __init__(self, title: str, count_tokens: CountTokens, limits: Limits | None = None) -> None:
        self._title = title
        self._limits = limits or Limits()
        self._measure = Measure(title, count_tokens, self._limits)
        self._apart: list[Block] | None = []
        self._skipped: frozenset[BlockKind] = APART
        self._section: _Section | None = None
        self._count = 0

    def take(self, blocks: Sequence[Block]) -> Iterator[Piece]:
        """The chunks that these blocks complete."""
        self._measure.learn(blocks)
        for block in blocks:
            if block.kind not in self._skipped:
                self._apart = None
                yield from self._add(block)
            elif self._apart is not None:  # margins and contents are cut only where there is nothing else
                self._apart.append(block)
                if len(self._apart) >= MOST_HELD:
                    held, self._apart, self._skipped = self._apart, None, frozenset()
                    for other in held:
                        yield from self._add(other)

    def end(self) -> Iterator[Piece]:
        """Yields the remaining chunks."""
        held, self._apart = self._apart or [], None
        for block in held:
            yield from self._add(block)
        yield from self._close()

    def _add(self, block: Block) -> Iterator[Piece]:
        if self._section is not None and self._section.breaks(block):
            yield from self._close()
        if self._section is None:
            self._section = _Section(self._measure, self._limits)
        for group in self._section.add(block):
            yield self._piece(self._section, group)

    def _close(self) -> Iterator[Piece]:
        section, self._section = self._section, None
        if section is not None:
            for group in section.end():
                yield self._piece(section, group)

    def _piece(self, section: "_Section", group: Sequence[Unit]) -> Piece:
        start, text = group[0].start, section.text(group).rstrip()
        blocks = [unit.block for unit in group]
        where = metadata(blocks, self._title, self._count, start, start + len(text))
        context = "\n".join(
            line for line in section.context.split("\n") if line and not text.startswith(line)
        )
        piece = Piece(self._count, text, context, where, index_words(searchable(context, text)))
        self._count += 1
        return piece


@dataclass(eq=False)
class _Section:
    """A run of blocks that one chunk may span: one section, one slide, one sheet.

    Its context is known with the first block that is no heading, as the blocks behind it have the same one.
    """

    measure: Measure
    limits: Limits
    _headings: list[Block] = field(default_factory=list, init=False)
    _last: Block | None = field(default=None, init=False)
    _packer: "_Packer | None" = field(default=None, init=False)
    _text: str = field(default="", init=False)
    _text_start: int = field(default=0, init=False)
    _room: int = field(default=0, init=False)
    context: str = field(default="", init=False)

    def breaks(self, block: Block) -> bool:
        """Return True if a block belongs to the next section."""
        last = self._last
        if last is None:
            return False
        if block.start - last.end > _LONGEST_SEPARATOR:  # something between them is passed over
            return True
        if (block.slide, block.sheet) != (last.slide, last.sheet):
            return True
        if block.kind is BlockKind.HEADING:
            return self._packer is not None or len(self._headings) >= MOST_HELD
        return block.heading_path != last.heading_path and last.kind is not BlockKind.HEADING

    def add(self, block: Block) -> Iterator[list[Unit]]:
        self._last = block
        if self._packer is None:
            self._headings.append(block)
            if block.kind is not BlockKind.HEADING:
                yield from self._begin()
        else:
            yield from self._pack(block)

    def end(self) -> Iterator[list[Unit]]:
        if self._packer is None:
            yield from self._begin()
        if self._packer is not None:
            yield from self._packer.end()

    def text(self, group: Sequence[Unit]) -> str:
        return self._text[group[0].start - self._text_start : group[-1].end - self._text_start]

    def _begin(self) -> Iterator[list[Unit]]:
        headings, self._headings = self._headings, []
        self.context = self.measure.context(headings[-1])
        self._room = self.limits.maximum - self.measure.tokens(self.context) - 1
        self._packer = _Packer(self._room, self.limits)
        for block in headings:
            yield from self._pack(block)

    def _pack(self, block: Block) -> Iterator[list[Unit]]:
        assert self._packer is not None
        # The stretch of text that groups are made of begins with the first unit held.
        start = self._packer.start
        if start is None:
            self._text, self._text_start = block.text, block.start
        else:
            held = self._text[start - self._text_start :]
            gap = "\n" * (block.start - start - len(held))
            self._text, self._text_start = f"{held}{gap}{block.text}", start
        for unit in self.measure.units(block, self._room):
            yield from self._packer.add(unit)


@dataclass(eq=False)
class _Packer:
    """Full groups in turn; a short last sentence opens the next one too, and crumbs join the one before."""

    most: int
    limits: Limits
    _full: list[Unit] = field(default_factory=list, init=False)
    _group: list[Unit] = field(default_factory=list, init=False)
    _carried: int = field(default=0, init=False)

    @property
    def start(self) -> int | None:
        """Where what is held begins."""
        return next((group[0].start for group in (self._full, self._group) if group), None)

    def add(self, unit: Unit) -> Iterator[list[Unit]]:
        """A group that nothing joins any more."""
        if len(self._group) > self._carried and _overflows(self._group, unit, self.most):
            if self._full:
                yield self._full
            self._full = self._group
            most_words = self.limits.overlap_words
            last = self._full[-1]
            short = last.size > 0 and last.words <= most_words and len(self._full) > 1
            self._group = [last] if short and last.block.kind is BlockKind.PARAGRAPH else []
            if _overflows(self._group, unit, self.most):
                self._group = []
            self._carried = len(self._group)
        self._group.append(unit)

    def end(self) -> Iterator[list[Unit]]:
        fresh = self._group[self._carried :]
        joined = [*self._full, *fresh]
        is_prose = all(unit.block.kind is BlockKind.PARAGRAPH for unit in fresh)
        is_crumb = is_prose and sum(unit.words for unit in fresh) < self.limits.least_words
        if self._full and fresh and is_crumb and _tokens(joined) <= self.most:
            yield joined
            return
        if self._full:
            yield self._full
        if fresh:
            yield self._group


def _overflows(group: Sequence[Unit], unit: Unit, most: int) -> bool:
    size = sum(other.size for other in group)
    return bool(group) and (_tokens(group) + unit.tokens > most or (size > 0 and size + unit.size > 1))


def _tokens(group: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in group)
