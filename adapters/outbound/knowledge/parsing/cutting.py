"""Blocks on their way out of the child: cleaned, counted, in batches, and cut into pieces while they are read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from adapters.outbound.knowledge.parsing.formats import MIME_TYPES
from adapters.outbound.knowledge.parsing.reading import Job, Reading, stem
from adapters.outbound.knowledge.parsing.text import clean, one_line
from domain.knowledge.chunking import Chunker
from domain.knowledge.documents import Block, Document, separator
from domain.knowledge.text_units import CountTokens
from domain.knowledge.titles import meant_title, title_of
from ports.indexing import ReadPart

_BATCH_CHARS = 262_144
_BATCH_BLOCKS = 2_000


def batches(job: Job, blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks with clean text, empty ones left out, very long ones in several.

    Raises `TooLarge` over the limits on text and blocks, `Unreadable` where no text is left at all.
    """
    batch: list[Block] = []
    size = total = count = 0
    for block in _clean(blocks):
        batch.append(block)
        count += 1
        size += len(block.text) + sum(map(len, block.heading_path))
        total += len(block.text)
        _check(job, total, count)
        if size >= _BATCH_CHARS or len(batch) >= _BATCH_BLOCKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
    if not count:
        raise job.unreadable("it holds no text")


def _clean(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        text = clean(block.text)
        while len(text) > _BATCH_CHARS:
            end = _end_of_part(text)
            yield _tidy(block, clean(text[:end]))
            text = text[end:].lstrip()
        if text.strip():
            yield _tidy(block, text)


def _end_of_part(text: str) -> int:
    """Where a very long text is cut: behind a line, else a sentence, else a word."""
    for mark in ("\n", ". ", " "):
        end = text.rfind(mark, _BATCH_CHARS // 2, _BATCH_CHARS)
        if end > 0:
            return end + len(mark)
    return _BATCH_CHARS


def _tidy(block: Block, text: str) -> Block:
    if any(not label.isprintable() for label in (*block.heading_path, block.sheet or "", block.header or "")):
        block = replace(
            block,
            heading_path=tuple(one_line(label) for label in block.heading_path),
            sheet=block.sheet and one_line(block.sheet),
            header=block.header and one_line(block.header),
        )
    return block if text == block.text else replace(block, text=text)


def _check(job: Job, chars: int, blocks: int) -> None:
    if chars > job.limits.text_chars:
        raise job.too_large(f"it holds more than {job.limits.text_chars:,} characters of text")
    if blocks > job.limits.blocks:
        raise job.too_large(f"it holds more than {job.limits.blocks:,} paragraphs, rows or fields")


_SECONDS_PER_CHARACTER = 10e-6
"""What cutting may take on a slow processor."""
_PART_PIECES = 512


@dataclass(slots=True)
class _Place:
    """Where the next block stands in the document's text."""

    at: int = 0
    before: str | None = None

    def put(self, batch: Sequence[Block]) -> tuple[str, list[Block]]:
        """The stretch of text that these blocks are, and the blocks with their places."""
        texts: list[str] = []
        placed: list[Block] = []
        for block in batch:
            gap = separator(self.before, block.kind) if self.before is not None else ""
            placed.append(replace(block, start=self.at + len(gap)))
            texts += (gap, block.text)
            self.at, self.before = placed[-1].end, block.kind
        return "".join(texts), placed


def parts(job: Job, reading: Reading, count_tokens: CountTokens) -> Iterator[ReadPart]:
    """What is called the document's title is found in its first blocks, since every piece tells it."""
    place = _Place()
    chunker: Chunker | None = None
    for batch in batches(job, reading.blocks):
        text, blocks = place.put(batch)
        job.earn(len(text) * _SECONDS_PER_CHARACTER)
        if chunker is None:
            title = document_title(reading, blocks, job)
            opening = Document(title, text, tuple(blocks), MIME_TYPES[job.format], job.format)
            chunker = Chunker(title_of(opening, job.name), count_tokens)
        made = list(chunker.take(blocks))
        yield ReadPart(text, made[:_PART_PIECES])
        for start in range(_PART_PIECES, len(made), _PART_PIECES):
            yield ReadPart("", made[start : start + _PART_PIECES])
    if chunker is not None:
        yield ReadPart("", list(chunker.end()), job.warnings)


def document_title(reading: Reading, opening: Sequence[Block], job: Job) -> str:
    """The document's own title if a person meant it, else its first heading that says something, else the name."""
    headings = (block.text for block in opening if block.level)
    titles = (meant_title(one_line(title)) for title in (reading.title, *headings))
    return next(filter(None, titles), stem(job.name))
