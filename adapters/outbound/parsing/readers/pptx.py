"""PPTX (ISO/IEC 29500-1, PresentationML), by the `unstructured` library.

Speaker's notes, charts and diagrams come from their own parts.
"""

from collections.abc import Iterator
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.containers import check_inflation
from adapters.outbound.parsing.engines import elements
from adapters.outbound.parsing.ooxml import paragraphs, safe_root
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.tables import rows_to_blocks
from domain.knowledge.documents import Block, BlockKind

elements.prepare()

import pptx  # noqa: E402
from pptx.enum.shapes import PP_PLACEHOLDER  # noqa: E402
from unstructured.partition.pptx import partition_pptx  # noqa: E402

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_ON_EVERY_SLIDE = (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE)
_RELATED = ("/chart", "/diagramData", "/comments")


def read(job: Job) -> Reading:
    """Slide by slide: its title as a heading, text, tables, charts and diagrams, then the speaker's notes."""
    check_inflation(job)
    deck = pptx.Presentation(str(job.path))
    count = len(deck.slides)
    if count > job.limits.pages:
        raise job.too_large(f"it has {count:,} slides, {job.limits.pages:,} are allowed")
    return Reading(_blocks(job, deck), title=deck.core_properties.title or "")


def _blocks(job: Job, deck: Any) -> Iterator[Block]:
    by_slide: dict[int, list[Any]] = {}
    with job.path.open("rb") as file:
        for element in partition_pptx(
            file=file, include_slide_notes=False, include_page_breaks=False, **elements.PLAIN
        ):
            by_slide.setdefault(element.metadata.page_number or 1, []).append(element)
    for number, slide in enumerate(deck.slides, start=1):
        yield from _slide(number, slide, by_slide.get(number, []))
        job.progress(number / len(deck.slides))


def _slide(number: int, slide: Any, slide_elements: list[Any]) -> Iterator[Block]:
    title = one_line(slide.shapes.title.text) if slide.shapes.title is not None else ""
    path = (title,) if title else ()
    if title:
        yield Block(BlockKind.HEADING, title, heading_path=path, level=1, slide=number)
    margins = _margins(slide)
    seen = [*margins, title]
    for element in slide_elements:
        seen.append(one_line(element.text or ""))
        if seen[-1] == title or seen[-1] in margins:
            continue
        if type(element).__name__ == "Table" and element.metadata.text_as_html:
            rows = list(elements.table_rows(element.metadata.text_as_html))
            seen.extend(one_line(cell) for _, row in rows for cell in row)
            yield from rows_to_blocks(rows, slide=number, heading_path=path)
            continue
        kind = BlockKind.LIST_ITEM if type(element).__name__ == "ListItem" else BlockKind.PARAGRAPH
        yield Block(kind, element.text, heading_path=path, slide=number)
    for text in (*_missed_paragraphs(slide, seen), *_related(slide)):
        yield Block(BlockKind.PARAGRAPH, text, heading_path=path, slide=number)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield Block(BlockKind.NOTE, slide.notes_slide.notes_text_frame.text, heading_path=path, slide=number)
    for text in margins:
        yield Block(BlockKind.MARGIN, text, slide=number)


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


def _related(slide: Any) -> Iterator[str]:
    for relation in slide.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(_RELATED):
            yield from paragraphs(safe_root(relation.target_part.blob))
