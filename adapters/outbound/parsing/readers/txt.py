"""Plain text: paragraphs between blank lines."""

import re
from collections.abc import Iterator

from adapters.outbound.parsing.armor import read_unarmored
from adapters.outbound.parsing.cleaning import clean
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.text import decode
from domain.knowledge.documents import Block, BlockKind

_BLANK = re.compile(r"\n[ \t]*\n")
_SMALL_FILE_CHARS = 2_000_000
_GATHERED_CHARS = 400


def read(job: Job) -> Reading:
    """One block for each paragraph; in very long files short neighbours share a block."""
    return Reading(paragraphs(read_unarmored(job, decode(job).replace("\f", "\n\n"))))


def paragraphs(text: str) -> Iterator[Block]:
    """The paragraphs of plain text."""
    text = clean(text)
    least = 0 if len(text) <= _SMALL_FILE_CHARS else _GATHERED_CHARS
    for paragraph in _gathered(text, least):
        yield Block(BlockKind.PARAGRAPH, paragraph)


def _gathered(text: str, least: int) -> Iterator[str]:
    start = 0
    for gap in _BLANK.finditer(text):
        if gap.start() - start > least:
            yield text[start : gap.start()].strip("\n")
            start = gap.end()
    yield text[start:]
