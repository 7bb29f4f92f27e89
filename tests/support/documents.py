"""Documents as the parser puts them together."""

from collections.abc import Sequence
from dataclasses import replace

from domain.knowledge.documents import Block, Document, FileType, separator


def document_of(title: str, blocks: Sequence[Block], kind: FileType, engine: str | None = None) -> Document:
    """A document whose text is that of the blocks."""
    placed: list[Block] = []
    parts: list[str] = []
    position = 0
    for block in blocks:
        if placed:
            gap = separator(placed[-1].kind, block.kind)
            parts.append(gap)
            position += len(gap)
        placed.append(replace(block, start=position))
        parts.append(block.text)
        position += len(block.text)
    return Document(title, "".join(parts), tuple(placed), kind.mime_type, kind.format, engine)
