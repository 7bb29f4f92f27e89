"""PPT: PowerPoint 97 to 2003, read from its compound file ([MS-PPT])."""

from __future__ import annotations

from collections.abc import Iterator

import olefile

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.engines.powerpoint97 import TITLES, Presentation, Slide
from adapters.outbound.parsing.legacy import title_of
from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.documents import Block, BlockKind


def read(job: Job) -> Reading:
    """Slide by slide: its title as a heading, its text, the speaker's notes."""
    with olefile.OleFileIO(str(job.path)) as ole:
        slides = Presentation(job, ole).slides()
        title = title_of(ole)
    if len(slides) > job.limits.pages:
        raise job.too_large(f"it has {len(slides):,} slides, {job.limits.pages:,} are allowed")
    return Reading(_blocks(slides), title=title)


def _blocks(slides: list[Slide]) -> Iterator[Block]:
    for number, slide in enumerate(slides, start=1):
        title = next((one_line(text.text) for text in slide.texts if text.role in TITLES), "")
        path = (title,) if title else ()
        if title:
            yield Block(BlockKind.HEADING, title, heading_path=path, level=1, slide=number)
        for text in slide.texts:
            if text.role in TITLES and one_line(text.text) == title:
                continue
            for paragraph in text.text.split("\r"):
                yield Block(BlockKind.PARAGRAPH, paragraph, heading_path=path, slide=number)
        for note in slide.notes:
            yield Block(BlockKind.NOTE, note.replace("\r", "\n"), heading_path=path, slide=number)
