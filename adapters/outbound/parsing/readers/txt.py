"""Plain text: paragraphs between blank lines."""

import re
from collections.abc import Iterator

from adapters.outbound.parsing.cleaning import clean
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.text import decode
from domain.knowledge.documents import Block, BlockKind

_BLANK = re.compile(r"\n[ \t]*\n")
_SMALL_FILE_CHARS = 2_000_000
_GATHERED_CHARS = 400


def read(job: Job) -> Reading:
    """One block for each paragraph; in very long files short neighbours share a block."""
    text = clean(decode(job).replace("\f", "\n\n"))
    least = 0 if len(text) <= _SMALL_FILE_CHARS else _GATHERED_CHARS
    return Reading(Block(BlockKind.PARAGRAPH, paragraph) for paragraph in _paragraphs(text, least))


def _paragraphs(text: str, least: int) -> Iterator[str]:
    start = 0
    for gap in _BLANK.finditer(text):
        if gap.start() - start > least:
            yield text[start : gap.start()].strip("\n")
            start = gap.end()
    yield text[start:]
