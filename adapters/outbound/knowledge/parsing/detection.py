"""Detects the format of a file by its content. The extension decides among text formats alone."""

from pathlib import Path
from typing import BinaryIO

from adapters.outbound.knowledge.parsing.containers import office_kind, ole_kind
from adapters.outbound.knowledge.parsing.formats import EXTENSIONS, TEXT_FORMATS
from adapters.outbound.knowledge.parsing.reading import LABELS, Limits, extension
from adapters.outbound.knowledge.parsing.text import looks_like_text
from domain.knowledge.documents import Format
from domain.refusals import Refusal, Unreadable, Unsupported

_MPEG_LAYER_3 = 1


def mpeg_frame(data: bytes) -> int:
    """The length of the MPEG layer III frame that begins here, or 0 (ISO/IEC 11172-3, 2.4.1.3)."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return 0
    version, layer = data[1] >> 3 & 3, data[1] >> 1 & 3
    rate_index, sampling_index = data[2] >> 4, data[2] >> 2 & 3
    if version == 1 or layer != _MPEG_LAYER_3 or sampling_index == 3 or not 0 < rate_index < 15:
        return 0
    first = version == 3
    kbits = (
        (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
        if first
        else (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
    )[rate_index]
    hertz = (44_100, 48_000, 32_000)[sampling_index] >> {3: 0, 2: 1, 0: 2}[version]
    return (144 if first else 72) * kbits * 1000 // hertz + (data[2] >> 1 & 1)


HEAD_BYTES = 65_536
_PDF_SEARCH_BYTES = 1_024

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"),
    (b"fLaC", "FLAC audio (save it as WAV, MP3 or OGG)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%!PS", "a PostScript document (save it as PDF)"),
    (b"\x1a\x45\xdf\xa3", "Matroska or WebM media"),
)
_BMP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})


def detect(path: Path, name: str, limits: Limits) -> Format:
    """The format of the file. Raises `Unsupported`, `Unreadable` or `TooLarge`, each naming the file."""
    wanted = EXTENSIONS.get(extension(name))
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if not head:
            raise Unreadable(f"{name} is empty")
        format_ = _by_content(file, head, name, wanted, limits)
    return format_ or _text_kind(head, name, wanted)


def _by_content(
    file: BinaryIO, head: bytes, name: str, wanted: Format | None, limits: Limits
) -> Format | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return office_kind(file, name, wanted, limits)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return ole_kind(file, name)
    if _is_pdf(head, wanted):
        return Format.PDF
    if head.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"{\\rtf"):
        return Format.RTF
    return _picture(head) or _sound(head, wanted) or _foreign(head, name, wanted)


def _is_pdf(head: bytes, wanted: Format | None) -> bool:
    if wanted is Format.PDF:
        return b"%PDF-" in head[:_PDF_SEARCH_BYTES]  # readers accept rubbish in front (ISO 32000-1, note H.3)
    return head.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"%PDF-")


def _picture(head: bytes) -> Format | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return Format.PNG
    if head.startswith(b"\xff\xd8\xff"):
        return Format.JPEG
    if head.startswith((b"GIF87a", b"GIF89a")):
        return Format.GIF
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return Format.WEBP
    if head.startswith((b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")):
        return Format.TIFF
    if head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return Format.BMP
    return None


def _sound(head: bytes, wanted: Format | None) -> Format | None:
    if head.startswith((b"RIFF", b"RF64", b"RIFX")) and head[8:12] == b"WAVE":
        return Format.WAV
    if head.startswith(b"OggS"):
        return Format.OGG
    if head.startswith(b"ID3"):
        return Format.MP3
    if mpeg_frame(head) and (wanted is Format.MP3 or mpeg_frame(head[mpeg_frame(head) :])):
        return Format.MP3
    return None


def _foreign(head: bytes, name: str, wanted: Format | None) -> Format | None:
    for magic, what in _FOREIGN:
        if head.startswith(magic) and not (magic == b"MZ" and looks_like_text(head)):
            raise unsupported(name, f"it is {what}")
    if head[4:8] == b"ftyp":
        raise unsupported(name, "it is MP4 media (save its sound as WAV, MP3 or OGG)")
    if wanted is not None and wanted not in TEXT_FORMATS and not looks_like_text(head):
        raise Unreadable(
            f"{name} cannot be read as {LABELS[wanted]}: its content is not {LABELS[wanted]} at all, "
            "it may be damaged or cut off at the beginning"
        )
    return None


def _text_kind(head: bytes, name: str, wanted: Format | None) -> Format:
    if not looks_like_text(head):
        if wanted is None:
            raise unsupported(name, "its content is none of them")
        raise Unreadable(f"{name} cannot be read as {LABELS[wanted]}: it holds binary data, not text")
    if wanted in TEXT_FORMATS:
        return wanted
    if wanted is not None:
        raise Unreadable(
            f"{name} cannot be read as {LABELS[wanted]}: it holds plain text; "
            "name it .txt (or .md, .csv, .json, .xml, .html, .eml) and upload it again"
        )
    if extension(name):
        raise unsupported(name, f"the extension .{extension(name)} is none of them")
    return _sniffed(head)


def _sniffed(head: bytes) -> Format:
    begin = head.lstrip(b"\xef\xbb\xbf\r\n\t ")[:512].lower()
    if begin.startswith((b"<!doctype html", b"<html")):
        return Format.HTML
    if begin.startswith(b"<?xml"):
        return Format.XML
    return Format.TXT


def unsupported(name: str, reason: str) -> Refusal:
    """The refusal of what is no format of ours; `reason` ends the sentence."""
    return Unsupported(
        f"{name} is not of a supported format (PDF, DOCX, DOC, PPTX, PPT, TXT, Markdown, CSV, JSON, XML, "
        f"XLSX, XLS, JPEG, PNG, GIF, WebP, BMP, MP3, WAV, OGG, HTML, RTF, ODT, ODS, ODP, EPUB, EML, MSG, TIFF): "
        f"{reason}"
    )
