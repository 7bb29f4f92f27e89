"""Cuts a document into chunks: whole sentences, rows, slides and sections, within the model's window.

Every chunk is a stretch of the document's own text; together they hold every word of it, but for running headers,
page numbers and tables of contents: these are cut only where a document holds nothing else. A chunk's context
(title and headings) is put in front of it for embedding and index alone: without it a passage that never
repeats what it is about is not found.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.knowledge.documents import APART, Block, BlockKind, Document
from domain.knowledge.model import Piece
from domain.knowledge.positions import metadata
from domain.knowledge.titles import title_of

CountTokens = Callable[[str], int]
"""How many tokens of the embedding model a text takes, without the marks for start and end."""

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
_LONGEST_SEPARATOR = 2


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
class _Unit:
    """A stretch of the text that stays whole: a sentence, a row, a segment.

    `size` is its share of a chunk; what stands in every chunk's context takes none.
    """

    start: int
    end: int
    tokens: int
    words: int
    size: float
    block: Block


def chunk(
    document: Document, file_name: str, count_tokens: CountTokens, limits: Limits | None = None
) -> list[Piece]:
    limits = limits or Limits()
    title = title_of(document, file_name)
    pieces: list[Piece] = []
    for section in _sections(_cut(document.blocks)):
        context = _context(title, section, count_tokens, limits.context)
        room = limits.maximum - count_tokens(context) - 1
        units: list[_Unit] = []
        for block in section:
            measure = _Measure(document.text, block, count_tokens, limits, room)
            units.extend(measure.units(title))
        for group in _pack(units, room, limits):
            text = document.text[group[0].start : group[-1].end].rstrip()
            blocks = [unit.block for unit in group]
            where = metadata(blocks, title, len(pieces), group[0].start, group[0].start + len(text))
            pieces.append(Piece(len(pieces), text, _new_in(context, text), where))
    return pieces


def _cut(blocks: Sequence[Block]) -> Sequence[Block]:
    """What is cut: all but margins and tables of contents, or these too where there is nothing else."""
    return [block for block in blocks if block.kind not in APART] or blocks


def _sections(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Runs of blocks that one chunk may span: one section, one slide, one sheet."""
    section: list[Block] = []
    for block in blocks:
        if section and _breaks(section, block):
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _breaks(section: Sequence[Block], block: Block) -> bool:
    last = section[-1]
    if block.start - last.end > _LONGEST_SEPARATOR:  # something between them is passed over
        return True
    if (block.slide, block.sheet) != (last.slide, last.sheet):
        return True
    if block.kind is BlockKind.HEADING:
        return any(other.kind is not BlockKind.HEADING for other in section)
    return block.heading_path != last.heading_path and last.kind is not BlockKind.HEADING


def _context(title: str, section: Sequence[Block], count_tokens: CountTokens, most: int) -> str:
    last = section[-1]
    sheet = (last.sheet,) if last.sheet else ()
    lines = list(dict.fromkeys(part.strip() for part in (title, *sheet, *last.heading_path) if part.strip()))
    while len(lines) > 1 and count_tokens("\n".join(lines)) > most:
        del lines[1]
    context = "\n".join(lines)
    while count_tokens(context) > most:
        context = context[: len(context) * most // (count_tokens(context) + 1)]
    return context


def _new_in(context: str, text: str) -> str:
    """The context without what the chunk begins with anyway: the title is not to count twice."""
    return "\n".join(line for line in context.split("\n") if line and not text.startswith(line))


class _Measure:
    """Cuts one block into units that fit `room` tokens."""

    def __init__(self, text: str, block: Block, count_tokens: CountTokens, limits: Limits, room: int) -> None:
        self._text = text
        self._block = block
        self._count_tokens = count_tokens
        self._limits = limits
        self._most = room if block.kind in _WHOLE else min(room, limits.maximum * 3 // 4)

    def units(self, title: str) -> Iterator[_Unit]:
        for start, end in self._spans():
            in_context = self._block.kind is BlockKind.HEADING or self._text[start:end].strip() == title
            yield from self._fitting(start, end, in_context)

    def _spans(self) -> Iterator[tuple[int, int]]:
        block = self._block
        if block.kind in _WHOLE:
            cuts: list[int] = []
        else:
            ends = _LINE_END if block.kind is BlockKind.CODE else SENTENCE_END
            cuts = [match.end() for match in ends.finditer(self._text, block.start, block.end)]
        edges = sorted({block.start, *cuts, block.end})
        for start, end in pairwise(edges):
            if self._text[start:end].strip():
                yield start, end

    def _fitting(self, start: int, end: int, in_context: bool) -> Iterator[_Unit]:
        """The stretch whole, or halved (best at a line's or cell's end, or a blank) until each part fits."""
        if end - start <= _MAX_UNIT_CHARS:
            tokens = self._count_tokens(self._text[start:end])
            if tokens <= self._most or end - start <= 1:
                words = len(self._text[start:end].split())
                size = 0.0 if in_context else self._size(tokens, words)
                yield _Unit(start, end, tokens, words, size, self._block)
                return
        middle = _middle(self._text, start, end)
        yield from self._fitting(start, middle, in_context)
        yield from self._fitting(middle, end, in_context)

    def _size(self, tokens: int, words: int) -> float:
        if self._block.kind in _PROSE and tokens <= words * _TOKENS_OF_A_WORD:
            return words / self._limits.words
        return tokens / self._limits.tokens


def _middle(text: str, start: int, end: int) -> int:
    middle = (start + end) // 2
    for mark in ("\n", " | ", " "):
        before = text.rfind(mark, start + (middle - start) // 2, middle)
        if before > start:
            return before + len(mark)
    return middle


def _pack(units: Sequence[_Unit], most: int, limits: Limits) -> Iterator[list[_Unit]]:
    """Full groups in turn; a short last sentence opens the next one too, and crumbs join the one before."""
    groups: list[list[_Unit]] = []
    group: list[_Unit] = []
    carried = 0
    for unit in units:
        if len(group) > carried and _overflows(group, unit, most):
            groups.append(group)
            group = _overlap(group, limits.overlap_words)
            if _overflows(group, unit, most):
                group = []
            carried = len(group)
        group.append(unit)
    if len(group) > carried:
        fresh = group[carried:]
        if groups and _is_crumb(fresh, limits) and _tokens([*groups[-1], *fresh]) <= most:
            groups[-1] += fresh
        else:
            groups.append(group)
    yield from groups


def _overflows(group: Sequence[_Unit], unit: _Unit, most: int) -> bool:
    size = sum(other.size for other in group)
    return bool(group) and (_tokens(group) + unit.tokens > most or (size > 0 and size + unit.size > 1))


def _tokens(group: Sequence[_Unit]) -> int:
    return sum(unit.tokens for unit in group)


def _is_crumb(group: Sequence[_Unit], limits: Limits) -> bool:
    prose = all(unit.block.kind is BlockKind.PARAGRAPH for unit in group)
    return prose and sum(unit.words for unit in group) < limits.least_words


def _overlap(group: Sequence[_Unit], most_words: int) -> list[_Unit]:
    last = group[-1]
    short = last.size > 0 and last.words <= most_words and len(group) > 1
    return [last] if short and last.block.kind is BlockKind.PARAGRAPH else []
