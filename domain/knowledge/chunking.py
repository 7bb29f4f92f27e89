"""Cuts a document into chunks: whole sentences, rows, slides and sections, within the model's window.

Every chunk is a stretch of the document's own text; together they hold every word of it. A chunk's context
(title and headings) is put in front of it for embedding and index alone: without it a passage that never
repeats what it is about is not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from domain.knowledge.documents import Block, BlockKind, Document
from domain.knowledge.model import Piece
from domain.knowledge.positions import metadata

CountTokens = Callable[[str], int]
"""How many tokens of the embedding model a text takes, without the marks for start and end."""

_SENTENCE_END = re.compile(
    r"(?<=[.!?\u3002\uff01\uff1f\u061f\u0964])[\"'\u201d\u2019)\]]*\s+|\n\s*\n|(?<=[\u3002\uff01\uff1f])"
)
_LINE_END = re.compile(r"\n+")
_WHOLE = frozenset({BlockKind.TABLE_ROW, BlockKind.FIELD, BlockKind.SPEECH})
_MAX_UNIT_CHARS = 2_000
_MAX_LEAD_WORDS = 40


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in tokens: the aim, the most for chunk and context, the context's share, the overlap."""

    target: int = 160
    maximum: int = 254
    context: int = 64
    overlap: int = 32


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of the text that stays whole: a sentence, a row, a segment."""

    start: int
    end: int
    tokens: int
    block: Block


def chunk(
    document: Document, file_name: str, count_tokens: CountTokens, limits: Limits | None = None
) -> list[Piece]:
    """The chunks of a document, in order."""
    limits = limits or Limits()
    title = _title(document, file_name)
    pieces: list[Piece] = []
    for section in _sections(document.blocks):
        context = _context(title, section, count_tokens, limits.context)
        room = limits.maximum - count_tokens(context) - 1
        target = min(limits.target, room)
        units: list[_Unit] = []
        for block in section:
            most = room if block.kind in _WHOLE else target
            units.extend(_units(document.text, block, count_tokens, most))
        for group in _pack(units, target, room, limits.overlap):
            text = document.text[group[0].start : group[-1].end].rstrip()
            blocks = [unit.block for unit in group]
            where = metadata(blocks, title, len(pieces), group[0].start, group[0].start + len(text))
            pieces.append(Piece(len(pieces), text, _new_in(context, text), where))
    return pieces


def _title(document: Document, file_name: str) -> str:
    """The document's own title, else its short first line, else the file's name when it says anything."""
    stem = PurePath(file_name).stem
    if document.title.strip() and document.title not in (file_name, stem):
        return document.title.strip()
    lead = document.blocks[0].text.strip() if document.blocks else ""
    first_line = lead.split("\n", 1)[0]
    has_more = len(document.blocks) > 1 or "\n" in lead
    if has_more and document.blocks[0].kind is BlockKind.PARAGRAPH and _is_lead(first_line, document.text):
        return first_line
    spoken = re.sub(r"[_\-.]+", " ", stem)
    return spoken if sum(len(word) >= 3 and word.isalpha() for word in spoken.split()) >= 2 else ""


def _is_lead(line: str, text: str) -> bool:
    return 0 < len(line.split()) <= _MAX_LEAD_WORDS and len(line) * 2 < len(text)


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


def _units(text: str, block: Block, count_tokens: CountTokens, most: int) -> Iterator[_Unit]:
    for start, end in _spans(text, block):
        yield from _fitting(text, start, end, block, count_tokens, most)


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    if block.kind in _WHOLE:
        cuts: list[int] = []
    else:
        ends = _LINE_END if block.kind is BlockKind.CODE else _SENTENCE_END
        cuts = [match.end() for match in ends.finditer(text, block.start, block.end)]
    edges = sorted({block.start, *cuts, block.end})
    for start, end in pairwise(edges):
        if text[start:end].strip():
            yield start, end


def _fitting(
    text: str, start: int, end: int, block: Block, count_tokens: CountTokens, most: int
) -> Iterator[_Unit]:
    """The stretch whole, or halved (best at a line's or cell's end, or a blank) until each part fits."""
    if end - start <= _MAX_UNIT_CHARS:
        tokens = count_tokens(text[start:end])
        if tokens <= most or end - start <= 1:
            yield _Unit(start, end, tokens, block)
            return
    middle = _cut(text, start, end)
    yield from _fitting(text, start, middle, block, count_tokens, most)
    yield from _fitting(text, middle, end, block, count_tokens, most)


def _cut(text: str, start: int, end: int) -> int:
    middle = (start + end) // 2
    for mark in ("\n", " | ", " "):
        before = text.rfind(mark, start + (middle - start) // 2, middle)
        if before > start:
            return before + len(mark)
    return middle


def _pack(units: Sequence[_Unit], target: int, most: int, overlap: int) -> Iterator[list[_Unit]]:
    """Groups of like size near `target`, none over `most`; a short last sentence opens the next too."""
    total = sum(unit.tokens for unit in units)
    goal = total / max(1, round(total / target), -(-total // most))
    group: list[_Unit] = []
    carried = fresh = 0
    for unit in units:
        full = carried + fresh + unit.tokens > most or fresh + unit.tokens / 2 > goal
        if fresh and full:
            yield group
            group = _overlap(group, overlap) if unit.tokens + overlap <= most else []
            carried, fresh = sum(other.tokens for other in group), 0
        group.append(unit)
        fresh += unit.tokens
    if fresh:
        yield group


def _overlap(group: Sequence[_Unit], most: int) -> list[_Unit]:
    last = group[-1]
    short = last.tokens <= most and len(group) > 1
    return [last] if short and last.block.kind is BlockKind.PARAGRAPH else []
