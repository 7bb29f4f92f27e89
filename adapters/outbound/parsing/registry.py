"""Which reader reads which format, and what the fork server imports before it forks for it."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable

from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.documents import Format

Reader = Callable[[Job], Reading]

_PACKAGE = "adapters.outbound.parsing"
_READERS: dict[Format, str] = {
    Format.PDF: "pdf",
    Format.DOCX: "docx",
    Format.DOC: "doc",
    Format.PPTX: "pptx",
    Format.PPT: "ppt",
    Format.TXT: "txt",
    Format.MARKDOWN: "markdown",
    Format.CSV: "csv",
    Format.JSON: "json",
    Format.XML: "xml",
    Format.XLSX: "workbook",
    Format.XLS: "workbook",
    Format.JPEG: "picture",
    Format.PNG: "picture",
    Format.GIF: "picture",
    Format.WEBP: "picture",
    Format.BMP: "picture",
    Format.MP3: "sound",
    Format.WAV: "sound",
    Format.OGG: "sound",
    Format.HTML: "html",
}

PICTURES = frozenset({Format.JPEG, Format.PNG, Format.GIF, Format.WEBP, Format.BMP})
SOUNDS = frozenset({Format.MP3, Format.WAV, Format.OGG})
RECOGNISING = PICTURES | SOUNDS | {Format.PDF}
"""Formats whose reader may recognise text or speech, and so may take more memory."""


def reader(format_: Format) -> Reader:
    """The reader of a format. Raises `ImportError` where a package it cannot do without is missing."""
    module = importlib.import_module(f"{_PACKAGE}.readers.{_READERS[format_]}")
    found: Reader = module.read
    return found


def preload(format_: Format | None) -> None:
    """Imports what reading this format needs, so that a forked child has it; None: what detection needs.

    A package that is missing or broken is left for the child to report.
    """
    importlib.import_module(f"{_PACKAGE}.sandbox.child")
    if format_ is None:
        return
    with contextlib.suppress(Exception):
        module = importlib.import_module(f"{_PACKAGE}.readers.{_READERS[format_]}")
        warm: Callable[[], None] | None = getattr(module, "warm", None)
        if warm is not None:
            warm()
