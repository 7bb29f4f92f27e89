"""Pieces and text on their way out of the child: a document is cut while it is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.formats import MIME_TYPES
from adapters.outbound.parsing.names import stem
from adapters.outbound.parsing.pipeline import batches
from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.chunking import Chunker
from domain.knowledge.documents import Block, Document, separator
from domain.knowledge.text_units import CountTokens
from domain.knowledge.titles import meant_title, title_of
from ports.parsing import ReadPart

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
