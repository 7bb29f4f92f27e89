"""What was written to notes and marks of a page."""

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium_c

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


def notes(page: Any) -> Iterator[str]:
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
