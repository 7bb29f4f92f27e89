"""Blocks on their way out of the child: cleaned, counted, in batches, and cut into pieces while they are read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from adapters.outbound.knowledge.parsing.formats import MIME_TYPES
from adapters.outbound.knowledge.parsing.reading import Job, stem
from adapters.outbound.knowledge.parsing.text import clean, one_line
from domain.knowledge.chunking import Chunker
from domain.knowledge.documents import Block, Document, separator
from domain.knowledge.text_units import CountTokens
from domain.knowledge.titles import meant_title, title_of
from ports.indexing import ReadPart

_BATCH_CHARS = 262_144
_BATCH_BLOCKS = 2_000
_SECONDS_PER_CHARACTER = 10e-6
"""What cutting may take on a slow processor."""
_PART_PIECES = 512


def batches(job: Job, blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks with clean text, empty ones left out, very long ones in several.

    Raises `TooLarge` over the limits on text and blocks, `Unreadable` where no text is left at all.
    """
    limits = job.limits
    batch: list[Block] = []
    size = total = count = 0
    for block in _clean(blocks):
        batch.append(block)
        count += 1
        size += len(block.text) + sum(map(len, block.heading_path))
        total += len(block.text)
        if total > limits.text_chars:
            raise job.too_large(f"it holds more than {limits.text_chars:,} characters of text")
        if count > limits.blocks:
            raise job.too_large(f"it holds more than {limits.blocks:,} paragraphs, rows or fields")
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
        while len(text) > _BATCH_CHARS:  # cut behind a line, else a sentence, else a word
            ends = (
                end + len(mark)
                for mark in ("\n", ". ", " ")
                if (end := text.rfind(mark, _BATCH_CHARS // 2, _BATCH_CHARS)) > 0
            )
            end = next(ends, _BATCH_CHARS)
            yield _tidy(block, clean(text[:end]))
            text = text[end:].lstrip()
        if text.strip():
            yield _tidy(block, text)


def _tidy(block: Block, text: str) -> Block:
    if any(not label.isprintable() for label in (*block.heading_path, block.sheet or "", block.header or "")):
        block = replace(
            block,
            heading_path=tuple(one_line(label) for label in block.heading_path),
            sheet=block.sheet and one_line(block.sheet),
            header=block.header and one_line(block.header),
        )
    return block if text == block.text else replace(block, text=text)


def parts(job: Job, document: Iterable[Block], count_tokens: CountTokens) -> Iterator[ReadPart]:
    """Cuts a document. Its title comes from its first blocks, since each piece carries it."""
    at = 0
    before: str | None = None
    chunker: Chunker | None = None
    for batch in batches(job, document):
        texts: list[str] = []
        blocks: list[Block] = []
        for block in batch:
            gap = separator(before, block.kind) if before is not None else ""
            blocks.append(replace(block, start=at + len(gap)))
            texts += (gap, block.text)
            at, before = blocks[-1].end, block.kind
        text = "".join(texts)
        job.earn(len(text) * _SECONDS_PER_CHARACTER)
        if chunker is None:
            title = document_title(job, blocks)
            opening = Document(title, text, tuple(blocks), MIME_TYPES[job.format], job.format)
            chunker = Chunker(title_of(opening, job.name), count_tokens)
        pieces = list(chunker.take(blocks))
        yield ReadPart(text, pieces[:_PART_PIECES])
        for start in range(_PART_PIECES, len(pieces), _PART_PIECES):
            yield ReadPart("", pieces[start : start + _PART_PIECES])
    if chunker is not None:
        yield ReadPart("", list(chunker.end()), job.warnings)


def document_title(job: Job, opening: Sequence[Block]) -> str:
    """The document's own title if a person meant it, else its first heading that says something, else the name."""
    headings = (block.text for block in opening if block.level)
    titles = (meant_title(one_line(title)) for title in (job.title, *headings))
    return next(filter(None, titles), stem(job.name))
