"""DOC: Word 97 to 2003, read from its compound file by piece table and paragraph properties ([MS-DOC])."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import olefile

from adapters.outbound.parsing.engines.word97 import Paragraph, WordFile
from adapters.outbound.parsing.legacy import title_of
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.sections import Sections
from adapters.outbound.parsing.tables import rows_to_blocks
from domain.knowledge.documents import Block, BlockKind

_STORIES = (
    BlockKind.PARAGRAPH,  # the main text
    BlockKind.NOTE,  # footnotes
    BlockKind.MARGIN,  # running headers and footers
    BlockKind.NOTE,  # macros' text, unused
    BlockKind.NOTE,  # comments
    BlockKind.NOTE,  # endnotes
    BlockKind.PARAGRAPH,  # text boxes
    BlockKind.MARGIN,  # text boxes in running headers
)


def read(job: Job) -> Reading:
    """Headings, paragraphs and table rows; then notes, running headers, comments and text boxes."""
    with olefile.OleFileIO(str(job.path)) as ole:
        word = WordFile(job, ole)
        title = title_of(ole)
    return Reading(_blocks(word), title=title)


def _blocks(word: WordFile) -> Iterator[Block]:
    seen: set[str] = set()
    for kind, paragraphs in zip(_STORIES, word.stories(), strict=True):
        if kind is BlockKind.PARAGRAPH:
            yield from _running(paragraphs)
            continue
        for paragraph in paragraphs:
            if paragraph.text.strip() and (kind is BlockKind.NOTE or paragraph.text not in seen):
                seen.add(paragraph.text)
                yield Block(kind, paragraph.text.strip())


@dataclass(slots=True)
class _Table:
    rows: list[tuple[int, list[str]]]
    cells: list[str]
    cell: list[str]


def _running(paragraphs: Iterator[Paragraph]) -> Iterator[Block]:
    sections = Sections()
    table = _Table([], [], [])
    for paragraph in paragraphs:
        if paragraph.in_table:
            _into(table, paragraph)
            continue
        yield from _closed(table, sections.path)
        text = paragraph.text.strip()
        if paragraph.heading and text:
            level = min(paragraph.heading, 6)
            path = sections.enter(level, text)
            yield Block(BlockKind.HEADING, text, heading_path=path, level=level)
        else:
            yield Block(BlockKind.PARAGRAPH, text, heading_path=sections.path)
    yield from _closed(table, sections.path)


def _into(table: _Table, paragraph: Paragraph) -> None:
    if paragraph.ends_row:
        table.rows.append((len(table.rows) + 1, table.cells))
        table.cells = []
        return
    table.cell.append(paragraph.text)
    if paragraph.ends_cell:
        table.cells.append(" ".join(table.cell))
        table.cell = []


def _closed(table: _Table, path: tuple[str, ...]) -> Iterator[Block]:
    if table.cell or table.cells:
        table.rows.append((len(table.rows) + 1, [*table.cells, " ".join(table.cell)]))
    rows, table.rows, table.cells, table.cell = table.rows, [], [], []
    yield from rows_to_blocks(rows, heading_path=path)
