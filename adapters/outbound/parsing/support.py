"""Which formats this installation can read, and what to install for the others."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from adapters.outbound.parsing.registry import PICTURES, SOUNDS
from domain.knowledge.documents import Format, FormatSupport

_OCR = ("rapidocr", "onnxruntime", "cv2", "PIL")
_NEEDED: dict[Format, tuple[str, ...]] = {
    Format.PDF: ("pypdfium2",),
    Format.DOCX: ("unstructured", "docx", "lxml"),
    Format.DOC: ("olefile",),
    Format.PPTX: ("unstructured", "pptx", "lxml"),
    Format.PPT: ("olefile",),
    Format.TXT: ("charset_normalizer",),
    Format.MARKDOWN: ("unstructured", "markdown_it", "lxml"),
    Format.CSV: ("charset_normalizer",),
    Format.JSON: ("charset_normalizer",),
    Format.XML: ("lxml",),
    Format.XLSX: ("python_calamine", "lxml"),
    Format.XLS: ("python_calamine",),
    Format.HTML: ("unstructured", "lxml"),
    **dict.fromkeys(PICTURES, _OCR),
}
_SOUND = ("soundfile", "scipy", "numpy")
_PACKAGES = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "docx": "python-docx",
    "pptx": "python-pptx",
    "python_calamine": "python-calamine",
    "markdown_it": "markdown-it-py",
    "faster_whisper": "faster-whisper",
    "charset_normalizer": "charset-normalizer",
}


def supported_formats(whisper_dir: str = "") -> Sequence[FormatSupport]:
    """One entry per format. Nothing is imported to find out."""
    return [_support(format_, whisper_dir) for format_ in Format]


def _support(format_: Format, whisper_dir: str) -> FormatSupport:
    needed = _NEEDED.get(format_, ())
    if format_ in SOUNDS:
        needed = (*_SOUND, "faster_whisper" if whisper_dir else "pocketsphinx")
        if whisper_dir and not (Path(whisper_dir) / "tokenizer.json").is_file():
            how = f"WHISPER_MODEL_DIR {whisper_dir} holds no Whisper model (tokenizer.json is missing)"
            return FormatSupport(format_, False, how)
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join(_PACKAGES.get(name, name) for name in missing)
        return FormatSupport(format_, False, f"install it with: pip install {packages}")
    how = ", ".join(_PACKAGES.get(name, name) for name in needed)
    if format_ is Format.PDF and any(importlib.util.find_spec(name) is None for name in _OCR):
        how += "; scanned pages need: pip install rapidocr onnxruntime opencv-python-headless pillow"
    return FormatSupport(format_, True, how)
