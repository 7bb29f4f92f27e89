"""The upload formats: extensions, media types, readers and the packages that readers need."""

import contextlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.outbound.knowledge.parsing.reading import Job
from domain.knowledge.documents import Block, Format, FormatSupport

Reader = Callable[[Job], Iterator[Block]]

PICTURES = frozenset({Format.JPEG, Format.PNG, Format.GIF, Format.WEBP, Format.BMP, Format.TIFF})
SOUNDS = frozenset({Format.MP3, Format.WAV, Format.OGG})
RECOGNISING = PICTURES | SOUNDS | {Format.PDF, Format.EML, Format.MSG}
"""Formats whose reader may recognise text or speech, in an attachment too, and so may take more memory."""
TEXT_FORMATS = frozenset(
    {Format.TXT, Format.MARKDOWN, Format.CSV, Format.JSON, Format.XML, Format.HTML, Format.EML}
)

_PACKAGE = "adapters.outbound.knowledge.parsing"
_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
_OCR = "rapidocr onnxruntime cv2 PIL"
_SOUND = "soundfile scipy numpy"


@dataclass(frozen=True, slots=True)
class _Row:
    """`packages` are names to import; each list is separated by blanks."""

    mime_type: str
    reader: str
    packages: str
    extensions: str


_FORMATS: dict[Format, _Row] = {
    Format.PDF: _Row("application/pdf", "pdf", "pypdfium2 pypdf lxml", "pdf"),
    Format.DOCX: _Row(
        f"{_OPEN_XML}.wordprocessingml.document", "docx", "unstructured docx lxml", "docx docm dotx"
    ),
    Format.DOC: _Row("application/msword", "doc", "olefile", "doc dot"),
    Format.PPTX: _Row(
        f"{_OPEN_XML}.presentationml.presentation", "pptx", "unstructured pptx lxml", "pptx pptm ppsx potx"
    ),
    Format.PPT: _Row("application/vnd.ms-powerpoint", "ppt", "olefile", "ppt pps"),
    Format.TXT: _Row("text/plain", "plain_text.read_text", "charset_normalizer", "txt text log"),
    Format.MARKDOWN: _Row(
        "text/markdown", "html.read_markdown", "unstructured markdown_it lxml", "md markdown"
    ),
    Format.CSV: _Row("text/csv", "plain_text.read_csv", "charset_normalizer", "csv tsv"),
    Format.JSON: _Row("application/json", "plain_text.read_json", "charset_normalizer", "json jsonl ndjson"),
    Format.XML: _Row("application/xml", "xml", "lxml", "xml"),
    Format.XLSX: _Row(f"{_OPEN_XML}.spreadsheetml.sheet", "xlsx", "lxml python_calamine", "xlsx xlsm xltx"),
    Format.XLS: _Row("application/vnd.ms-excel", "xls", "python_calamine olefile", "xls xlt"),
    Format.JPEG: _Row("image/jpeg", "picture", _OCR, "jpg jpeg jpe"),
    Format.PNG: _Row("image/png", "picture", _OCR, "png"),
    Format.GIF: _Row("image/gif", "picture", _OCR, "gif"),
    Format.WEBP: _Row("image/webp", "picture", _OCR, "webp"),
    Format.BMP: _Row("image/bmp", "picture", _OCR, "bmp dib"),
    Format.MP3: _Row("audio/mpeg", "sound", _SOUND, "mp3"),
    Format.WAV: _Row("audio/wav", "sound", _SOUND, "wav wave"),
    Format.OGG: _Row("audio/ogg", "sound", _SOUND, "ogg oga"),
    Format.HTML: _Row("text/html", "html", "unstructured lxml", "html htm xhtml"),
    Format.RTF: _Row("application/rtf", "rtf", "striprtf charset_normalizer", "rtf"),
    Format.ODT: _Row(f"{_OPEN_DOCUMENT}.text", "opendocument", "lxml", "odt ott"),
    Format.ODS: _Row(f"{_OPEN_DOCUMENT}.spreadsheet", "opendocument", "lxml", "ods ots"),
    Format.ODP: _Row(f"{_OPEN_DOCUMENT}.presentation", "opendocument", "lxml", "odp otp"),
    Format.EPUB: _Row("application/epub+zip", "epub", "unstructured lxml", "epub"),
    Format.EML: _Row("message/rfc822", "mail", "unstructured lxml", "eml"),
    Format.MSG: _Row("application/vnd.ms-outlook", "mail", "oxmsg unstructured lxml", "msg"),
    Format.TIFF: _Row("image/tiff", "picture", _OCR, "tif tiff"),
}
MIME_TYPES = {format_: row.mime_type for format_, row in _FORMATS.items()}
EXTENSIONS = {ending: format_ for format_, row in _FORMATS.items() for ending in row.extensions.split()}
_DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "docx": "python-docx",
    "pptx": "python-pptx",
    "python_calamine": "python-calamine",
    "markdown_it": "markdown-it-py",
    "faster_whisper": "faster-whisper",
    "charset_normalizer": "charset-normalizer",
    "oxmsg": "python-oxmsg",
}


def reader(format_: Format) -> Reader:
    """The reader of a format. Raises `ImportError` where a package it cannot do without is missing."""
    module, _, function = _FORMATS[format_].reader.partition(".")
    read: Reader = getattr(importlib.import_module(f"{_PACKAGE}.readers.{module}"), function or "read")
    return read


def preload(format_: Format | None, *, web: bool = False, model_dir: str = "") -> None:
    """Imports what reading this format needs, so that a forked child has it; None: what detection needs; `web`: what
    reading web pages needs; with `model_dir` also what cutting needs.

    A package that is missing or broken is left for the child to report.
    """
    importlib.import_module(f"{_PACKAGE}.sandbox.child")
    if web:
        with contextlib.suppress(Exception):
            importlib.import_module(f"{_PACKAGE}.web_pages")
    if model_dir:
        with contextlib.suppress(Exception):
            importlib.import_module(f"{_PACKAGE}.sandbox.child").counter(model_dir)
    if format_ is None:
        return
    with contextlib.suppress(Exception):
        module = importlib.import_module(f"{_PACKAGE}.readers.{_FORMATS[format_].reader.partition('.')[0]}")
        warm: Callable[[], None] | None = getattr(module, "warm", None)
        if warm is not None:
            warm()


def supported_formats(whisper_dir: str = "") -> Sequence[FormatSupport]:
    """The formats that this installation can read, and how to install the others. Nothing is imported."""
    return [_support(format_, whisper_dir) for format_ in Format]


def _support(format_: Format, whisper_dir: str) -> FormatSupport:
    needed = _FORMATS[format_].packages.split()
    if format_ in SOUNDS:
        needed.append("faster_whisper" if whisper_dir else "pocketsphinx")
        if whisper_dir and not (Path(whisper_dir) / "tokenizer.json").is_file():
            how = f"WHISPER_MODEL_DIR {whisper_dir} holds no Whisper model (tokenizer.json is missing)"
            return FormatSupport(format_, False, how)
    if missing := _missing(needed):
        return FormatSupport(format_, False, f"install it with: pip install {' '.join(_names(missing))}")
    how = ", ".join(_names(needed))
    if format_ is Format.PDF and _missing(_OCR.split()):
        how += f"; scanned pages need: pip install {' '.join(_names(_OCR.split()))}"
    return FormatSupport(format_, True, how)


def _missing(packages: Sequence[str]) -> list[str]:
    return [name for name in packages if importlib.util.find_spec(name) is None]


def _names(packages: Sequence[str]) -> list[str]:
    """The names under which pip installs the packages."""
    return [_DISTRIBUTIONS.get(name, name) for name in packages]
