"""Detects the format of a file by its content. The extension decides among text formats alone."""

import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

import olefile

from adapters.outbound.knowledge.parsing.containers import part_name
from adapters.outbound.knowledge.parsing.formats import EXTENSIONS, TEXT_FORMATS
from adapters.outbound.knowledge.parsing.reading import LABELS, Limits, extension
from adapters.outbound.knowledge.parsing.text import looks_like_text
from domain.knowledge.documents import Format
from domain.refusals import Refusal, TooLarge, Unreadable, Unsupported

HEAD_BYTES = 65_536
_PDF_SEARCH_BYTES = 1_024
_BLANK = b"\xef\xbb\xbf\r\n\t "

_MAGIC: tuple[tuple[bytes | tuple[bytes, ...], Format], ...] = (
    (b"\x89PNG\r\n\x1a\n", Format.PNG),
    (b"\xff\xd8\xff", Format.JPEG),
    ((b"GIF87a", b"GIF89a"), Format.GIF),
    ((b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"), Format.TIFF),
    (b"OggS", Format.OGG),
    (b"ID3", Format.MP3),
)
_RIFF = {
    (b"RIFF", b"WEBP"): Format.WEBP,
    (b"RIFF", b"WAVE"): Format.WAV,
    (b"RF64", b"WAVE"): Format.WAV,
    (b"RIFX", b"WAVE"): Format.WAV,
}
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
_MPEG_LAYER_3 = 1
_MPEG_1_KBITS = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MPEG_2_KBITS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)

_OFFICE = {"word/": Format.DOCX, "ppt/": Format.PPTX, "xl/": Format.XLSX}
_DECLARED = {
    b"application/vnd.oasis.opendocument.text": Format.ODT,
    b"application/vnd.oasis.opendocument.text-template": Format.ODT,
    b"application/vnd.oasis.opendocument.spreadsheet": Format.ODS,
    b"application/vnd.oasis.opendocument.spreadsheet-template": Format.ODS,
    b"application/vnd.oasis.opendocument.presentation": Format.ODP,
    b"application/vnd.oasis.opendocument.presentation-template": Format.ODP,
    b"application/epub+zip": Format.EPUB,
}
"""By the member "mimetype" (OpenDocument 1.3, part 2, 3.3; EPUB 3.3, 4.2.3)."""
_CONTAINERS = frozenset({*_OFFICE.values(), *_DECLARED.values()})
_DECLARATION = "mimetype"
_DECLARATION_BYTES = 200
# Word, PowerPoint and Excel before 2007, and Outlook.
_STREAMS = (
    ("WordDocument", Format.DOC),
    ("PowerPoint Document", Format.PPT),
    ("Workbook", Format.XLS),
    ("Book", Format.XLS),
    ("__properties_version1.0", Format.MSG),
)


def detect(path: Path, name: str, limits: Limits) -> Format:
    """The format of the file. Raises `Unsupported`, `Unreadable` or `TooLarge`, each naming the file."""
    expected = EXTENSIONS.get(extension(name))
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if not head:
            raise Unreadable(f"{name} is empty")
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
            return _zip_kind(file, name, expected, limits)
        if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
            return _ole_kind(file, name)
    # Readers of PDF accept rubbish in front of it (ISO 32000-1, note H.3).
    if b"%PDF-" in (head[:_PDF_SEARCH_BYTES] if expected is Format.PDF else head.lstrip(_BLANK)[:5]):
        return Format.PDF
    if format_ := _binary_kind(head, expected):
        return format_
    _refuse_foreign(head, name, expected)
    return _text_kind(head, name, expected)


def _binary_kind(head: bytes, expected: Format | None) -> Format | None:
    if head.lstrip(_BLANK).startswith(b"{\\rtf"):
        return Format.RTF
    if format_ := _RIFF.get((head[:4], head[8:12])):
        return format_
    if head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return Format.BMP
    if (length := mpeg_frame(head)) and (expected is Format.MP3 or mpeg_frame(head[length:])):
        return Format.MP3
    return next((format_ for magic, format_ in _MAGIC if head.startswith(magic)), None)


def mpeg_frame(data: bytes) -> int:
    """The length of the MPEG layer III frame that begins here, or 0 (ISO/IEC 11172-3, 2.4.1.3)."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return 0
    version, layer = data[1] >> 3 & 3, data[1] >> 1 & 3
    rate_index, sampling_index = data[2] >> 4, data[2] >> 2 & 3
    if version == 1 or layer != _MPEG_LAYER_3 or sampling_index == 3 or not 0 < rate_index < 15:
        return 0
    kbits = (_MPEG_1_KBITS if version == 3 else _MPEG_2_KBITS)[rate_index]
    hertz = (44_100, 48_000, 32_000)[sampling_index] >> {3: 0, 2: 1, 0: 2}[version]
    return (144 if version == 3 else 72) * kbits * 1000 // hertz + (data[2] >> 1 & 1)


def _refuse_foreign(head: bytes, name: str, expected: Format | None) -> None:
    for magic, what in _FOREIGN:
        if head.startswith(magic) and not (magic == b"MZ" and looks_like_text(head)):
            raise unsupported(name, f"it is {what}")
    if head[4:8] == b"ftyp":
        raise unsupported(name, "it is MP4 media (save its sound as WAV, MP3 or OGG)")
    if expected is not None and expected not in TEXT_FORMATS and not looks_like_text(head):
        raise Unreadable(
            f"{name} cannot be read as {LABELS[expected]}: its content is not {LABELS[expected]} at all, "
            "it may be damaged or cut off at the beginning"
        )


def _text_kind(head: bytes, name: str, expected: Format | None) -> Format:
    if not looks_like_text(head):
        if expected is None:
            raise unsupported(name, "its content is none of them")
        raise Unreadable(f"{name} cannot be read as {LABELS[expected]}: it holds binary data, not text")
    if expected in TEXT_FORMATS:
        return expected
    if expected is not None:
        raise Unreadable(
            f"{name} cannot be read as {LABELS[expected]}: it holds plain text; "
            "name it .txt (or .md, .csv, .json, .xml, .html, .eml) and upload it again"
        )
    if extension(name):
        raise unsupported(name, f"the extension .{extension(name)} is none of them")
    begin = head.lstrip(_BLANK)[:512].lower()
    if begin.startswith((b"<!doctype html", b"<html")):
        return Format.HTML
    return Format.XML if begin.startswith(b"<?xml") else Format.TXT


def _zip_kind(file: BinaryIO, name: str, expected: Format | None, limits: Limits) -> Format:
    """The format of a ZIP archive, by what it declares and by its members. Raises `Unsupported` for any other."""
    declared: Format | None = None
    try:
        with zipfile.ZipFile(file) as archive:
            if _DECLARATION in archive.namelist():
                with archive.open(_DECLARATION) as member:
                    declared = _DECLARED.get(member.read(_DECLARATION_BYTES).strip())
            members = [part_name(member) for member in archive.namelist()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise _not_office(
            name,
            expected,
            "it is damaged or cut off, its directory cannot be read",
            "it is a damaged ZIP archive",
        ) from error
    if len(members) > limits.members:
        raise TooLarge(f"{name} is too large: it holds more than {limits.members:,} parts")
    if declared:
        return declared
    if "[content_types].xml" in members:
        for prefix, format_ in _OFFICE.items():
            if any(member.startswith(prefix) for member in members):
                return format_
    raise _not_office(
        name,
        expected,
        "it is a ZIP archive without the parts of a {}",
        "it is a ZIP archive (upload the files in it one by one)",
    )


def _not_office(name: str, expected: Format | None, reason: str, foreign: str) -> Refusal:
    if expected is not None and expected in _CONTAINERS:
        label = LABELS[expected]
        return Unreadable(f"{name} cannot be read as {label}: {reason.format(label)}")
    return Unsupported(f"{name} is not of a supported format: {foreign}")


def _ole_kind(file: BinaryIO, name: str) -> Format:
    """DOC, PPT, XLS or MSG by the streams. Raises `Unreadable` for encrypted packages, else `Unsupported`."""
    try:
        file.seek(0)
        with olefile.OleFileIO(file) as ole:
            if ole.exists("EncryptedPackage") or ole.exists("EncryptionInfo"):
                raise Unreadable(
                    f"{name} cannot be read: it is encrypted; remove its password and upload it again"
                )
            for stream, format_ in _STREAMS:
                if ole.exists(stream):
                    return format_
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise Unreadable(f"{name} cannot be read: its compound file structure is damaged") from error
    raise Unsupported(
        f"{name} is not of a supported format: it is a compound file, and none of DOC, PPT, XLS and MSG "
        "(an installer?)"
    )


def unsupported(name: str, reason: str) -> Refusal:
    """The refusal of a file whose format is not supported; `reason` ends the sentence."""
    return Unsupported(
        f"{name} is not of a supported format (PDF, DOCX, DOC, PPTX, PPT, TXT, Markdown, CSV, JSON, XML, "
        f"XLSX, XLS, JPEG, PNG, GIF, WebP, BMP, MP3, WAV, OGG, HTML, RTF, ODT, ODS, ODP, EPUB, EML, MSG, TIFF): "
        f"{reason}"
    )
