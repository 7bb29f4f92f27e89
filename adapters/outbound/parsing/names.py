"""What names say about files: shown names, extensions, media types."""

from __future__ import annotations

from domain.knowledge.documents import Format

EXTENSIONS: dict[str, Format] = {
    "pdf": Format.PDF,
    "docx": Format.DOCX,
    "docm": Format.DOCX,
    "dotx": Format.DOCX,
    "doc": Format.DOC,
    "dot": Format.DOC,
    "pptx": Format.PPTX,
    "pptm": Format.PPTX,
    "ppsx": Format.PPTX,
    "potx": Format.PPTX,
    "ppt": Format.PPT,
    "pps": Format.PPT,
    "txt": Format.TXT,
    "text": Format.TXT,
    "log": Format.TXT,
    "md": Format.MARKDOWN,
    "markdown": Format.MARKDOWN,
    "csv": Format.CSV,
    "tsv": Format.CSV,
    "json": Format.JSON,
    "jsonl": Format.JSON,
    "ndjson": Format.JSON,
    "xml": Format.XML,
    "xlsx": Format.XLSX,
    "xlsm": Format.XLSX,
    "xltx": Format.XLSX,
    "xls": Format.XLS,
    "xlt": Format.XLS,
    "jpg": Format.JPEG,
    "jpeg": Format.JPEG,
    "jpe": Format.JPEG,
    "png": Format.PNG,
    "gif": Format.GIF,
    "webp": Format.WEBP,
    "bmp": Format.BMP,
    "dib": Format.BMP,
    "mp3": Format.MP3,
    "wav": Format.WAV,
    "wave": Format.WAV,
    "ogg": Format.OGG,
    "oga": Format.OGG,
    "html": Format.HTML,
    "htm": Format.HTML,
    "xhtml": Format.HTML,
}

TEXT_FORMATS = frozenset({Format.TXT, Format.MARKDOWN, Format.CSV, Format.JSON, Format.XML, Format.HTML})

MIME_TYPES: dict[Format, str] = {
    Format.PDF: "application/pdf",
    Format.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Format.DOC: "application/msword",
    Format.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    Format.PPT: "application/vnd.ms-powerpoint",
    Format.TXT: "text/plain",
    Format.MARKDOWN: "text/markdown",
    Format.CSV: "text/csv",
    Format.JSON: "application/json",
    Format.XML: "application/xml",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.XLS: "application/vnd.ms-excel",
    Format.JPEG: "image/jpeg",
    Format.PNG: "image/png",
    Format.GIF: "image/gif",
    Format.WEBP: "image/webp",
    Format.BMP: "image/bmp",
    Format.MP3: "audio/mpeg",
    Format.WAV: "audio/wav",
    Format.OGG: "audio/ogg",
    Format.HTML: "text/html",
}

LABELS: dict[Format, str] = {
    **{kind: kind.value.upper() for kind in Format},
    Format.MARKDOWN: "Markdown",
    Format.WEBP: "WebP",
    Format.TXT: "plain text",
}

_SHOWN_CHARS = 200


def shown(file_name: str) -> str:
    """The name as messages show it: its last path segment, printable, of bearable length."""
    last = file_name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in last)
    return printable[-_SHOWN_CHARS:].strip() or "unnamed file"


def extension(file_name: str) -> str:
    """Lower case, without the dot; empty where there is none."""
    stem, dot, ending = shown(file_name).rpartition(".")
    return ending.lower() if dot and stem else ""


def stem(file_name: str) -> str:
    """The shown name without its extension."""
    name = shown(file_name)
    return name[: -len(extension(name)) - 1] if extension(name) else name
