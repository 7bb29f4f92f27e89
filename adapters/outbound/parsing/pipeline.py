"""Blocks on their way out of the child: cleaned, counted, in batches."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapters.outbound.parsing.cleaning import clean, one_line
from adapters.outbound.parsing.reading import Job
from domain.knowledge.documents import Block

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
