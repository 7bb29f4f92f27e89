"""PDF: the text layer page by page; a page that has next to none is rendered and its text recognised."""

import ctypes
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.documents import Block, BlockKind

_SCANNED_BELOW_CHARS = 20
_OBJECT_DEPTH = 3
_LINES_OF_LETTERS = 20
_RENDER_DPI = 150
_POINTS_PER_INCH = 72
_SECONDS_PER_PAGE = 60.0
_HYPHEN = re.compile(r"[\ufffe\u00ad\x02]\r?\n?")
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "\uff01", "\uff1f")
_BULLET = re.compile(r"\s*([•‣◦▪\u2013\uf0a7\uf0b7*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_SHORT_LINE = 0.7
_MOST_NOTE_BYTES = 2_000_000
_OPENED = frozenset(
    {
        pdfium_c.FPDF_ANNOT_TEXT,
        pdfium_c.FPDF_ANNOT_HIGHLIGHT,
        pdfium_c.FPDF_ANNOT_UNDERLINE,
        pdfium_c.FPDF_ANNOT_SQUIGGLY,
        pdfium_c.FPDF_ANNOT_STRIKEOUT,
        pdfium_c.FPDF_ANNOT_CARET,
        pdfium_c.FPDF_ANNOT_STAMP,
        pdfium_c.FPDF_ANNOT_INK,
        pdfium_c.FPDF_ANNOT_SQUARE,
        pdfium_c.FPDF_ANNOT_CIRCLE,
        pdfium_c.FPDF_ANNOT_LINE,
        pdfium_c.FPDF_ANNOT_POLYGON,
        pdfium_c.FPDF_ANNOT_POLYLINE,
    }
)
"""Kinds of annotations whose text shows when they are opened (ISO 32000-1, 12.5.6)."""


def read(job: Job) -> Reading:
    """Paragraphs with their page; the outline (bookmarks) gives headings."""
    try:
        document = pdfium.PdfDocument(job.path)
    except pdfium.PdfiumError as error:
        reason = (
            "it is encrypted; remove its password" if "assword" in str(error) else f"it is damaged ({error})"
        )
        raise job.unreadable(reason) from error
    count = len(document)
    if count > job.limits.pages:
        raise job.too_large(f"it has {count:,} pages, {job.limits.pages:,} are allowed")
    if not count:
        raise job.unreadable("it has no pages")
    reading = Reading((), title=document.get_metadata_value("Title"))
    reading.blocks = _Pages(job, document, reading).blocks()
    return reading


class _Pages:
    """The pages of one document, read one after the other."""

    def __init__(self, job: Job, document: Any, reading: Reading) -> None:
        self._job = job
        self._document = document
        self._reading = reading
        self._outline = _Outline(document)
        self._found = False
        self._notes: list[str] = []
        self._missing: ImportError | None = None

    def blocks(self) -> Iterator[Block]:
        count = len(self._document)
        for index in range(count):
            yield from self._page(index)
            self._job.progress((index + 1) / count)
        if self._missing and not self._found:
            raise self._missing

    def _page(self, index: int) -> Iterator[Block]:
        page = self._load(index)
        try:
            lines = _lines(page)
            if sum(map(len, lines)) < _SCANNED_BELOW_CHARS and _may_hide_text(page):
                lines = self._recognised(page) or lines
        finally:
            page.close()
        self._found = self._found or bool(lines or self._notes)
        yield from _paragraphs(lines, index + 1, self._outline)
        for note in self._notes:
            yield Block(BlockKind.NOTE, note, heading_path=self._outline.path, page=index + 1)

    def _load(self, index: int) -> Any:
        try:
            page = self._document[index]
            self._notes = list(_notes(page))
            if pdfium_c.FPDFPage_GetAnnotCount(page.raw):
                # Values of form fields and written notes are text only once they are part of the page.
                pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
                page.close()
                page = self._document[index]
        except pdfium.PdfiumError as error:
            raise self._job.unreadable(f"page {index + 1} is damaged") from error
        return page

    def _recognised(self, page: Any) -> list[str]:
        try:
            from adapters.outbound.parsing.engines import ocr
        except ImportError as error:
            self._missing = error
            return []
        self._reading.engine = ocr.ENGINE
        self._job.earn(_SECONDS_PER_PAGE)
        scale = _RENDER_DPI / _POINTS_PER_INCH
        longest = max(page.get_size()) * scale
        scale *= min(1.0, self._job.limits.ocr_side / max(longest, 1.0))
        image = page.render(scale=scale).to_pil()
        return [line for paragraph in ocr.paragraphs(image) for line in (*paragraph, "")]


class _Outline:
    """The bookmarks: which sections begin on which page."""

    def __init__(self, document: Any) -> None:
        self._begins: dict[int, list[tuple[int, str]]] = {}
        self._path: list[str] = []
        for mark in document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                self._begins.setdefault(page + 1, []).append((mark.level, one_line(mark.get_title())))

    def take(self, line: str, page: int) -> tuple[tuple[str, ...], int] | None:
        """The path and level of the section that begins with this line, when one does."""
        waiting = self._begins.get(page, [])
        for position, (level, title) in enumerate(waiting):
            if title and one_line(line) == title:
                self._enter(waiting[: position + 1])
                del waiting[: position + 1]
                return tuple(self._path), min(level + 1, 6)
        return None

    def advance_to(self, page: int) -> None:
        """Enters what should have begun on earlier pages, where no line was its title."""
        for earlier in [number for number in self._begins if number < page]:
            self._enter(self._begins.pop(earlier))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self._path)

    def _enter(self, marks: list[tuple[int, str]]) -> None:
        for level, title in marks:
            self._path = [*self._path[:level], title]


def _lines(page: Any) -> list[str]:
    textpage = page.get_textpage()
    try:
        text = textpage.get_text_range()
    finally:
        textpage.close()
    lines = [line.rstrip() for line in _HYPHEN.sub("", text).replace("\r\n", "\n").split("\n")]
    return lines if any(lines) else []


def _notes(page: Any) -> Iterator[str]:
    """What was written to notes and marks: it shows only when they are opened, and is not part of the page."""
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            if pdfium_c.FPDFAnnot_GetSubtype(annotation) in _OPENED and (text := _contents(annotation)):
                yield text
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)


def _contents(annotation: Any) -> str:
    size = min(pdfium_c.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0), _MOST_NOTE_BYTES)
    buffer = (ctypes.c_char * size)()
    place = ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR))
    pdfium_c.FPDFAnnot_GetStringValue(annotation, b"Contents", place, size)
    text: str = buffer.raw.decode("utf-16-le", "replace")
    return text.rstrip("\0").strip()


def _may_hide_text(page: Any) -> bool:
    """Whether there is a picture, or enough drawn lines to be letters."""
    paths = 0
    for item in page.get_objects(max_depth=_OBJECT_DEPTH):
        paths += item.type == pdfium_c.FPDF_PAGEOBJ_PATH
        if item.type == pdfium_c.FPDF_PAGEOBJ_IMAGE or paths > _LINES_OF_LETTERS:
            return True
    return False


def _paragraphs(lines: list[str], page: int, outline: _Outline) -> Iterator[Block]:
    """Joins lines: a paragraph ends at a blank line, a bullet, or a sentence end well before the margin."""
    outline.advance_to(page)
    width = max(map(len, lines), default=0) * _SHORT_LINE
    paragraph: list[str] = []
    for line, following in pairwise((*lines, "")):
        heading = outline.take(line, page)
        if heading is not None:
            yield from _paragraph(paragraph, page, outline.path[: heading[1] - 1])
            paragraph = []
            path, level = heading
            yield Block(BlockKind.HEADING, one_line(line), heading_path=path, level=level, page=page)
            continue
        if line.strip():
            paragraph.append(line)
        ends = line.endswith(_SENTENCE_END) and len(line) < width
        if ends or not line.strip() or _BULLET.match(following):
            yield from _paragraph(paragraph, page, outline.path)
            paragraph = []
    yield from _paragraph(paragraph, page, outline.path)


def _paragraph(lines: list[str], page: int, path: tuple[str, ...]) -> Iterator[Block]:
    if lines:
        kind = BlockKind.LIST_ITEM if _BULLET.match(lines[0]) else BlockKind.PARAGRAPH
        yield Block(kind, "\n".join(lines), heading_path=path, page=page)
