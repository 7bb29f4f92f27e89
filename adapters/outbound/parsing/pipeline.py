"""Blocks on their way out of the child: cleaned, counted, in batches."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapters.outbound.parsing.cleaning import clean, one_line
from adapters.outbound.parsing.reading import Job
from domain.knowledge.documents import Block

_BATCH_CHARS = 262_144
_BATCH_BLOCKS = 2_000


def batches(job: Job, blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks with clean text, empty ones left out.

    Raises `TooLarge` over the limits on text and blocks, `Unreadable` where no text is left at all.
    """
    batch: list[Block] = []
    size = total = count = 0
    for block in blocks:
        text = clean(block.text)
        if not text.strip():
            continue
        batch.append(_tidy(block, text))
        count += 1
        size += len(text)
        total += len(text)
        _check(job, total, count)
        if size >= _BATCH_CHARS or len(batch) >= _BATCH_BLOCKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
    if not count:
        raise job.unreadable("it holds no text")


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
