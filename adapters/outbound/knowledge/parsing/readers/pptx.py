"""PPTX (ISO/IEC 29500-1, PresentationML), by the `python-pptx` library.

Speaker's notes, charts and diagrams come from their own parts.
"""

from collections.abc import Iterator
from typing import Any

import pptx
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.group import GroupShape

from adapters.outbound.knowledge.parsing.containers import check_inflation, safe_root
from adapters.outbound.knowledge.parsing.ooxml import read_mended, texts_of
from adapters.outbound.knowledge.parsing.reading import Job, contained
from adapters.outbound.knowledge.parsing.tables import rows_to_blocks
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_ON_EVERY_SLIDE = (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE)
_RELATED = ("/chart", "/chartEx", "/diagramData", "/comments")


def read(job: Job) -> Iterator[Block]:
    """Slide by slide: its title as a heading, text, tables, charts and diagrams, then the speaker's notes."""
    check_inflation(job)
    return read_mended(job, _read)


def _read(job: Job) -> Iterator[Block]:
    deck = pptx.Presentation(str(job.path))
    count = len(deck.slides)
    job.check_pages(count, "slides")
    job.title = deck.core_properties.title or ""

    def blocks() -> Iterator[Block]:
        for number in range(1, count + 1):
            with contained(job, f"slide {number}"):
                yield from _slide(job, number, deck.slides[number - 1])
            job.progress(number / count)

    return blocks()


def _slide(job: Job, number: int, slide: Any) -> Iterator[Block]:
    heading = slide.shapes.title
    # A picture, which may stand in the place of a title, has no text.
    title = one_line(heading.text_frame.text) if getattr(heading, "has_text_frame", False) else ""
    path = tuple(filter(None, [title]))
    if title:
        yield Block(BlockKind.HEADING, title, heading_path=path, level=1, slide=number)
    margins = _margins(slide)
    seen = [*margins, title]
    for shape in sorted(_shapes(slide.shapes), key=_place):
        for block in _shape(shape, number, path):
            text = one_line(block.text)
            if text not in (*margins, title):
                yield block
            seen.append(text)
    for text in (*_missed_paragraphs(slide, seen), *_related(job, slide)):
        yield Block(BlockKind.PARAGRAPH, text, heading_path=path, slide=number)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield Block(BlockKind.NOTE, slide.notes_slide.notes_text_frame.text, heading_path=path, slide=number)
    for text in margins:
        yield Block(BlockKind.MARGIN, text, slide=number)


def _shapes(shapes: Any) -> Iterator[Any]:
    """The shapes of a slide, those of groups one by one."""
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _place(shape: Any) -> tuple[int, int]:
    try:
        return shape.top or 0, shape.left or 0
    except KeyError:  # the layout of the slide, which says where a placeholder stands, is missing
        return 0, 0


def _shape(shape: Any, number: int, path: tuple[str, ...]) -> Iterator[Block]:
    if shape.has_table:
        rows = ([cell.text for cell in row.cells] for row in shape.table.rows)
        yield from rows_to_blocks(enumerate(rows, start=1), slide=number, heading_path=path)
    elif shape.has_text_frame:
        for paragraph, element in zip(
            shape.text_frame.paragraphs, shape.element.iter(f"{_A}p"), strict=False
        ):
            is_item = element.find(f"{_A}pPr/{_A}buChar") is not None
            kind = BlockKind.LIST_ITEM if is_item else BlockKind.PARAGRAPH
            yield Block(kind, paragraph.text, heading_path=path, slide=number)


def _margins(slide: Any) -> list[str]:
    """The slide's footer, number and date."""
    kinds = ((shape.placeholder_format.type, shape) for shape in slide.placeholders if shape.has_text_frame)
    texts = (one_line(shape.text_frame.text) for kind, shape in kinds if kind in _ON_EVERY_SLIDE)
    return [text for text in texts if text]


def _missed_paragraphs(slide: Any, seen: list[str]) -> Iterator[str]:
    """Paragraphs of the slide that no element holds, such as those in shapes of newer programs."""
    known = "\n".join(seen)
    for paragraph in slide.element.iter(f"{_A}p"):
        text = one_line("".join(run.text or "" for run in paragraph.iter(f"{_A}t")))
        if text and text not in known:
            known = f"{known}\n{text}"
            yield text


def _related(job: Job, slide: Any) -> Iterator[str]:
    for relation in slide.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(_RELATED):
            with contained(job, f"the part {str(relation.target_part.partname).lstrip('/')}"):
                yield from texts_of(safe_root(relation.target_part.blob))
