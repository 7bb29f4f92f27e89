"""Bookmarks, notes and XFA forms of a PDF file, and pages whose text PDFium cannot tell."""

import ctypes
import io
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pypdfium2.raw as pdfium_c
from lxml import etree

from adapters.outbound.knowledge.parsing.containers import safe_root
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind

_NUMBERING = re.compile(r"(?:[A-Z]|\d{1,3})(?:\.\d{1,3})*[.)]?\s*")


class Outline:
    """The bookmarks: which sections begin on which page."""

    def __init__(self, document: Any) -> None:
        self._begins: dict[int, list[tuple[int, str]]] = {}
        self._path: list[str] = []
        for mark in document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                self._begins.setdefault(page + 1, []).append((mark.level, one_line(mark.get_title())))

    @property
    def titles(self) -> list[str]:
        """The titles of all sections that have not begun."""
        return [title for begins in self._begins.values() for _, title in begins]

    def take(self, line: str, page: int) -> tuple[tuple[str, ...], int] | None:
        """The path and level of the section whose title this line is, if any.

        The number in front of a title need not stand in the bookmark.
        """
        waiting = self._begins.get(page, [])
        line = one_line(line) if waiting else ""
        for position, (level, title) in enumerate(waiting):
            if not title or not line.endswith(title):
                continue
            if line == title or _NUMBERING.fullmatch(line[: -len(title)]):
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


_MOST_NOTE_BYTES = 2_000_000
_MARKS = "TEXT HIGHLIGHT UNDERLINE SQUIGGLY STRIKEOUT CARET STAMP INK SQUARE CIRCLE LINE POLYGON POLYLINE"
_OPENED = frozenset(getattr(pdfium_c, f"FPDF_ANNOT_{mark}") for mark in _MARKS.split())
"""Kinds of annotations whose text shows when they are opened (ISO 32000-1, 12.5.6)."""


def notes(page: Any) -> Iterator[str]:
    """Text of notes and marks: it shows only when they are opened, and is not part of the page."""
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            if pdfium_c.FPDFAnnot_GetSubtype(annotation) not in _OPENED:
                continue
            size = min(pdfium_c.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0), _MOST_NOTE_BYTES)
            buffer = (ctypes.c_char * size)()
            place = ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR))
            pdfium_c.FPDFAnnot_GetStringValue(annotation, b"Contents", place, size)
            if text := buffer.raw.decode("utf-16-le", "replace").rstrip("\0").strip():
                yield text
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)


_GAP, _SAME_LINE = 0.25, 0.5
_MOST_PIECES = 100_000


class OtherReader:
    """The pages of a file by the `pypdf` library, which knows the characters of fonts that are not in the file."""

    def __init__(self, path: Path) -> None:
        from pypdf import PdfReader

        self._reader = PdfReader(path)

    def lines(self, page: int) -> list[str]:
        """The lines of a page, counted from 0: pieces at one height, with blanks where there are gaps."""
        pieces: list[tuple[float, float, float, str]] = []

        def visit(text: str, outer: Sequence[float], inner: Sequence[float], _: Any, size: float) -> None:
            if text.strip() and len(pieces) < _MOST_PIECES:
                x, y = inner[4] * outer[0] + outer[4], inner[5] * outer[3] + outer[5]
                pieces.append((y, x, abs(size * math.hypot(inner[2], inner[3])) or 1.0, text.strip()))

        self._reader.pages[page].extract_text(visitor_text=visit)
        lines: list[str] = []
        height, end = math.inf, 0.0
        for y, x, size, text in sorted(pieces, key=lambda piece: (-round(piece[0]), piece[1])):
            if abs(height - y) > size * _SAME_LINE:
                lines.append(text)
            else:
                lines[-1] += (" " if x - end > size * _GAP else "") + text
            height, end = y, x + size * len(text)
        return lines

    def is_damaged(self, page: int) -> bool:
        """Return True for a page whose content is no stream, or one that cannot be unpacked."""
        contents = self._reader.pages[page].get("/Contents")
        streams = contents.get_object() if contents is not None else []
        streams = streams if isinstance(streams, list) else [streams]
        return any(_is_damaged(stream.get_object()) for stream in streams)


def _is_damaged(stream: Any) -> bool:
    if not hasattr(stream, "get_data"):
        return stream is not None
    stored = io.BytesIO()
    stream.write_to_stream(stored)
    packed = stored.getvalue().partition(b"\nstream\n")[2].rpartition(b"\nendstream")[0]
    filters = stream.get("/Filter")
    try:
        if filters in ("/FlateDecode", ["/FlateDecode"]):
            zlib.decompress(packed)
        else:
            stream.get_data()
    except (zlib.error, ValueError, LookupError, NotImplementedError):
        return True
    return False


_MOST_BYTES = 64 * 1024 * 1024
_PLACEHOLDER_CHARS = 2_000
_LEAST_LABEL = 3


def is_form_placeholder(document: Any, text: str) -> bool:
    """Return True where the pages are not what the form shows: `text` is what stands on them."""
    kind = pdfium_c.FPDF_GetFormType(document.raw)
    if kind == pdfium_c.FORMTYPE_XFA_FULL:
        return True
    if kind != pdfium_c.FORMTYPE_XFA_FOREGROUND:
        return False
    labels = [
        _text(element)
        for root in _roots(document)
        for element in (*root.iter("{*}draw"), *root.iterfind(".//{*}field/{*}caption"))
    ]
    labels = [label for label in labels if len(label) >= _LEAST_LABEL]
    if labels:
        shown = one_line(text)
        return not any(label in shown for label in labels)
    return "adobe" in text.casefold() and len(document) == 1 and len(text) < _PLACEHOLDER_CHARS


def form_blocks(document: Any) -> Iterator[Block]:
    """The texts of the form, then its fields as "caption: value"."""
    captions: dict[str, str] = {}
    roots = list(_roots(document))
    for root in roots:
        for field in root.iter("{*}field"):
            captions[field.get("name", "")] = _text(field.find("{*}caption"))
        for text in root.iter("{*}draw"):
            yield Block(BlockKind.PARAGRAPH, _text(text))
    for root in roots:
        for data in root.iter("{http://www.xfa.org/schema/xfa-data/1.0/}data"):
            yield from _fields(data, captions)


def _roots(document: Any) -> Iterator[Any]:
    for index in range(pdfium_c.FPDF_GetXFAPacketCount(document.raw)):
        size = ctypes.c_ulong()
        pdfium_c.FPDF_GetXFAPacketContent(document.raw, index, None, 0, size)
        if not 0 < size.value <= _MOST_BYTES:
            continue
        buffer = ctypes.create_string_buffer(size.value)
        pdfium_c.FPDF_GetXFAPacketContent(document.raw, index, buffer, size.value, size)
        try:
            root = safe_root(buffer.raw, recover=True)
        except etree.XMLSyntaxError:
            continue
        if root is not None:
            yield root


def _fields(data: Any, captions: Mapping[str, str]) -> Iterator[Block]:
    """One block for the fields of each group."""
    groups: dict[Any, list[str]] = {}
    for element in data.iter(etree.Element):
        value = one_line(element.text or "")
        if value and not len(element):
            name = etree.QName(element).localname
            groups.setdefault(element.getparent(), []).append(f"{captions.get(name) or name}: {value}")
    for lines in groups.values():
        yield Block(BlockKind.FIELD, "\n".join(lines))


def _text(element: Any) -> str:
    return "" if element is None else one_line(" ".join(element.itertext()))
