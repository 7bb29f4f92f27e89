"""PDF: the text layer page by page; a page that has next to none is rendered and its text recognised."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from adapters.outbound.knowledge.parsing.pdf import extras
from adapters.outbound.knowledge.parsing.pdf.headline import MEASURED, RECOGNISED, Exactness, headline
from adapters.outbound.knowledge.parsing.pdf.headline import Line as Headline
from adapters.outbound.knowledge.parsing.pdf.letters import are_alike, may_be_unreadable
from adapters.outbound.knowledge.parsing.pdf.margins import Edge
from adapters.outbound.knowledge.parsing.pdf.pages import PagedText
from adapters.outbound.knowledge.parsing.pdf.text import PageText
from adapters.outbound.knowledge.parsing.reading import Job, contained, stem
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind
from domain.knowledge.titles import meant_title

_SCANNED_BELOW_CHARS = 20
_OBJECT_DEPTH = 3
_LINES_OF_LETTERS = 20
_RENDER_DPI = 150
_POINTS_PER_INCH = 72
_SECONDS_PER_PAGE = 60.0
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "\uff01", "\uff1f")
_BULLET = re.compile(r"\s*([•‣◦▪\u2013\uf0a7\uf0b7*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_SHORT_LINE = 0.7
_PARAGRAPH_WORDS = 15


def read(job: Job) -> Iterator[Block]:
    """Paragraphs with their page; the outline (bookmarks) gives headings."""
    try:
        document = pdfium.PdfDocument(job.path)
    except pdfium.PdfiumError as error:
        reason = (
            "it is encrypted; remove its password" if "assword" in str(error) else f"it is damaged ({error})"
        )
        raise job.unreadable(reason) from error
    count = len(document)
    job.check_pages(count, "pages")
    if not count:
        raise job.unreadable("it has no pages")
    return _Pages(job, document).blocks()


@dataclass(frozen=True, slots=True)
class _Layer:
    """The lines of a page as they were read or recognised; `sized` may be left out."""

    page: int
    lines: list[str]
    edges: list[Edge]
    sized: list[Headline]
    exactness: Exactness


class _Pages:
    """The pages of one document: all are read before the first is written, for what returns on many is a margin."""

    def __init__(self, job: Job, document: Any) -> None:
        self._job = job
        self._document = document
        self._outline = extras.Outline(document)
        self._lines: list[list[str]] = []
        self._notes: list[list[str]] = []
        self._edges: list[Edge] = []
        self._first: _Layer | None = None
        self._chars = 0
        self._missing: ImportError | None = None
        self._trusts_layer = False
        self._unmapped: list[int] = []
        self._damaged: list[int] = []

    def blocks(self) -> Iterator[Block]:
        self._read_all()
        title = meant_title(one_line(self._document.get_metadata_value("Title")))
        if extras.is_form_placeholder(self._document, "\n".join(chain.from_iterable(self._lines))):
            self._job.title = title
            yield from self._form()
            return
        text = PagedText(self._lines, self._edges)
        if not title and (first := self._first):
            body = [line for number, line in enumerate(first.sized) if not text.is_apart(first.page, number)]
            title = headline(body, self._outline.titles, first.exactness)
        self._job.title = title or stem(self._job.name)
        for number, written in enumerate(self._notes, start=1):
            blocks = list(_written(text.runs(number - 1), number, self._outline))
            yield from _with_running_lines(blocks, text.telling(number - 1), number)
            for note in written:
                yield Block(BlockKind.NOTE, note, heading_path=self._outline.path, page=number)
        for number, margin in text.margins():
            yield Block(BlockKind.MARGIN, "\n".join(margin), page=number)

    def _read_all(self) -> None:
        count = len(self._document)
        for index in range(count):
            self._lines.append([])
            self._notes.append([])
            with contained(self._job, f"page {index + 1}"):
                self._read(index)
            self._job.progress((index + 1) / count)
        if self._missing and not any(self._lines + self._notes):
            raise self._missing
        if self._unmapped:
            self._job.warn(
                f"the text of {_shown(self._unmapped)} is stored without its characters and was recognised as in a "
                "picture"
            )
        if self._damaged:
            are = "are" if len(self._damaged) > 1 else "is"
            self._job.warn(f"the content of {_shown(self._damaged)} {are} damaged and could not be read")

    def _form(self) -> Iterator[Block]:
        blocks = [block for block in extras.form_blocks(self._document) if block.text]
        if not blocks:
            raise self._job.unreadable(
                "it is a form (XFA) that shows its content in Adobe Reader alone; print it into a PDF and upload that"
            )
        self._job.warn(
            "it is a form (XFA), of which the texts and the filled fields were read, not the pages"
        )
        yield from blocks

    def _read(self, index: int) -> None:
        page = self._document[index]
        written = list(extras.notes(page))
        if pdfium_c.FPDFPage_GetAnnotCount(page.raw):
            # Values of form fields and written notes are text only once they are part of the page.
            pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
            page.close()
            page = self._document[index]
        try:
            layer = self._readable(page, index)
        finally:
            page.close()
        self._edges.extend(layer.edges)
        if self._first is None and layer.lines:
            self._first = layer
        self._chars += sum(map(len, layer.lines))
        if self._chars > self._job.limits.text_chars:
            raise self._job.too_large(
                f"it holds more than {self._job.limits.text_chars:,} characters of text"
            )
        self._lines[index], self._notes[index] = layer.lines, written

    def _readable(self, page: Any, index: int) -> _Layer:
        """The text layer, or what was recognised in its place where it holds next to no text, or none that is one."""
        stored = PageText(page)
        try:
            sized = stored.sized() if self._first is None else []
            layer = _Layer(index, stored.lines, list(stored.edges(index)), sized, MEASURED)
            is_mapped = stored.is_mapped()
        finally:
            stored.close()
        text = "\n".join(layer.lines)
        if len(text) < _SCANNED_BELOW_CHARS:
            return self._without_text(page, layer)
        if not is_mapped:
            self._unmapped.append(index + 1)
            return self._recognised(page, index) or replace(layer, lines=[], edges=[], sized=[])
        if self._trusts_layer or not may_be_unreadable(text):
            return layer
        recognised = self._recognised(page, index)
        seen = "\n".join(recognised.lines) if recognised else ""
        if (
            not recognised
            or len(seen) < _SCANNED_BELOW_CHARS
            or are_alike(seen, text)
            or may_be_unreadable(seen)
        ):
            self._trusts_layer = True  # what was recognised is no better
            return layer
        self._unmapped.append(index + 1)
        return recognised

    def _without_text(self, page: Any, layer: _Layer) -> _Layer:
        """The layer of a page with next to no text in it: by another library, or recognised."""
        has_stored_text = any(map(str.strip, layer.lines))
        has_text, may_be_scanned, is_empty = _hidden_text(page)
        if has_text and not has_stored_text and (lines := self._other_reader.lines(layer.page)):
            return replace(layer, lines=lines, edges=[], sized=[Headline(line, 0.0, 0.0) for line in lines])
        if is_empty and self._other_reader.is_damaged(layer.page):
            self._damaged.append(layer.page + 1)
        return (may_be_scanned and self._recognised(page, layer.page)) or layer

    @cached_property
    def _other_reader(self) -> extras.OtherReader:
        return extras.OtherReader(self._job.path)

    def _recognised(self, page: Any, index: int) -> _Layer | None:
        try:
            from adapters.outbound.knowledge.parsing.readers import picture
        except ImportError as error:
            self._missing = error
            return None
        self._job.engine = picture.ENGINE
        self._job.earn(_SECONDS_PER_PAGE)
        scale = _RENDER_DPI / _POINTS_PER_INCH
        longest = max(page.get_size()) * scale
        scale *= min(1.0, self._job.limits.ocr_side / max(longest, 1.0))
        lines = picture.lines(page.render(scale=scale).to_pil())
        edges = [
            Edge(index, number, line.text, (line.top + line.bottom) / 2, line.bottom - line.top)
            for number, line in enumerate(lines)
            if line.text
        ]
        sized = [Headline(line.text, line.top, line.bottom - line.top) for line in lines]
        return _Layer(index, [line.text for line in lines], edges, sized, RECOGNISED)


def _hidden_text(page: Any) -> tuple[bool, bool, bool]:
    """Tells of a page without text if it holds drawn text, if it holds a picture or enough drawn lines to be letters,
    and if it is empty."""
    paths, has_text, is_empty = 0, False, True
    for item in page.get_objects(max_depth=_OBJECT_DEPTH):
        is_empty = False
        has_text = has_text or item.type == pdfium_c.FPDF_PAGEOBJ_TEXT
        paths += item.type == pdfium_c.FPDF_PAGEOBJ_PATH
        if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE or paths > _LINES_OF_LETTERS:
            return has_text, True, False
    return has_text, False, is_empty


def _shown(pages: Sequence[int]) -> str:
    """Pages as "page 3" or "pages 1-3, 7"."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    shown = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"page{'s' if len(pages) > 1 else ''} {shown}"


def _written(
    runs: Iterable[tuple[BlockKind, list[str]]], page: int, outline: extras.Outline
) -> Iterator[Block]:
    """Joins lines: a paragraph ends at a blank line, a bullet, or a sentence end well before the margin."""
    outline.advance_to(page)
    for kind, lines in runs:
        if kind is not BlockKind.PARAGRAPH:
            yield Block(kind, "\n".join(lines), page=page)
            continue
        width = max(map(len, lines), default=0) * _SHORT_LINE
        paragraph: list[str] = []
        for line, following in pairwise((*lines, "")):
            if heading := outline.take(line, page):
                path, level = heading
                yield from _paragraph(paragraph, page, outline.path[: level - 1])
                paragraph = []
                yield Block(BlockKind.HEADING, one_line(line), heading_path=path, level=level, page=page)
                continue
            if line.strip():
                paragraph.append(line)
            ends = line.endswith(_SENTENCE_END) and len(line) < width
            if ends or not line.strip() or _BULLET.match(following):
                yield from _paragraph(paragraph, page, outline.path)
                paragraph = []
        yield from _paragraph(paragraph, page, outline.path)


def _with_running_lines(blocks: list[Block], lines: list[str], page: int) -> list[Block]:
    """Running lines that tell something stand once in the text: after the first paragraph of their page."""
    if lines:
        long = (place for place, block in enumerate(blocks) if len(block.text.split()) >= _PARAGRAPH_WORDS)
        first = next(long, len(blocks) - 1)
        path = blocks[first].heading_path if blocks else ()
        telling = Block(BlockKind.PARAGRAPH, "\n".join(lines), heading_path=path, page=page)
        blocks.insert(first + 1, telling)
    return blocks


def _paragraph(lines: list[str], page: int, path: tuple[str, ...]) -> Iterator[Block]:
    if lines:
        kind = BlockKind.LIST_ITEM if _BULLET.match(lines[0]) else BlockKind.PARAGRAPH
        yield Block(kind, "\n".join(lines), heading_path=path, page=page)
