"""Containers: ZIP archives and what they really inflate to, and OLE compound files ([MS-CFB])."""

import zipfile
import zlib
from collections.abc import Sequence
from typing import IO, BinaryIO

import olefile

from adapters.outbound.parsing.names import LABELS
from adapters.outbound.parsing.reading import Job, Limits
from domain.knowledge.documents import Format
from domain.refusals import TooLarge, Unreadable, Unsupported

_OFFICE = {"word/": Format.DOCX, "ppt/": Format.PPTX, "xl/": Format.XLSX}
# Word, PowerPoint and Excel before 2007.
_STREAMS = (
    ("WordDocument", Format.DOC),
    ("PowerPoint Document", Format.PPT),
    ("Workbook", Format.XLS),
    ("Book", Format.XLS),
)
_STORED, _DEFLATED = 0, 8
_LOCAL_HEADER_BYTES = 30
_PIECE = 1 << 18
_ENCRYPTED_FLAG = 0x1


def office_kind(file: BinaryIO, name: str, wanted: Format | None, limits: Limits) -> Format:
    """DOCX, PPTX or XLSX by the member names. Raises `Unsupported` for any other archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        if wanted is not None and wanted in _OFFICE.values():
            reason = "it is damaged or cut off, its directory cannot be read"
            raise Unreadable(f"{name} cannot be read as {LABELS[wanted]}: {reason}") from error
        raise Unsupported(f"{name} is not of a supported format: it is a damaged ZIP archive") from error
    if len(members) > limits.members:
        raise TooLarge(f"{name} is too large: it holds more than {limits.members:,} parts")
    if "[Content_Types].xml" in members:
        for prefix, format_ in _OFFICE.items():
            if any(member.startswith(prefix) for member in members):
                return format_
    if wanted is not None and wanted in _OFFICE.values():
        reason = f"it is a ZIP archive without the parts of a {LABELS[wanted]}"
        raise Unreadable(f"{name} cannot be read as {LABELS[wanted]}: {reason}")
    raise Unsupported(f"{name} is not of a supported format: it is {_kind(members)}")


def _kind(members: Sequence[str]) -> str:
    """What an archive is that is no document of ours, and what to do with it."""
    if "META-INF/manifest.xml" in members and "content.xml" in members:
        return "an OpenDocument file (save it as DOCX, XLSX, PPTX or PDF)"
    if "META-INF/container.xml" in members:
        return "an EPUB book (save it as PDF or HTML)"
    return "a ZIP archive (upload the files in it one by one)"


def check_inflation(job: Job) -> None:
    """Inflates every member and counts the bytes that come out, whatever the directory declares.

    Raises `TooLarge` over the limits, `Unreadable` for encrypted or damaged members.
    """
    budget = _Budget(job, job.path.stat().st_size)
    with zipfile.ZipFile(job.path) as archive, job.path.open("rb") as file:
        for member in archive.infolist():
            if member.flag_bits & _ENCRYPTED_FLAG:
                raise job.unreadable("it is encrypted")
            _inflate(file, member, budget, job)


class _Budget:
    """Counts inflated bytes over all members of one container."""

    def __init__(self, job: Job, packed: int) -> None:
        self._job = job
        self._packed = max(packed, 1)
        self._inflated = 0

    def spend(self, count: int) -> None:
        limits = self._job.limits
        self._inflated += count
        if self._inflated > limits.inflated_bytes:
            raise self._job.too_large(f"its parts inflate to more than {limits.inflated_bytes // 2**20} MB")
        if self._inflated > limits.inflate_floor and self._inflated > limits.inflate_ratio * self._packed:
            raise self._job.too_large(f"its parts inflate to more than {limits.inflate_ratio} times its size")


def _inflate(file: IO[bytes], member: zipfile.ZipInfo, budget: _Budget, job: Job) -> None:
    file.seek(member.header_offset)
    local = file.read(_LOCAL_HEADER_BYTES)
    if len(local) < _LOCAL_HEADER_BYTES or not local.startswith(b"PK\x03\x04"):
        raise job.unreadable("it is damaged: a part is missing")
    skip = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    file.seek(skip, 1)
    if member.compress_type == _STORED:
        budget.spend(member.file_size)
    elif member.compress_type == _DEFLATED:
        _drain_deflate(file, budget, job)
    else:
        raise job.unreadable("it is packed with a method that this format does not have")


def _drain_deflate(file: IO[bytes], budget: _Budget, job: Job) -> None:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    packed = b""
    try:
        while not stream.eof:
            packed = packed or file.read(_PIECE)
            if not packed:
                raise job.unreadable("it is damaged: a part is cut off")
            budget.spend(len(stream.decompress(packed, _PIECE)))
            packed = stream.unconsumed_tail
    except zlib.error as error:
        raise job.unreadable("it is damaged: a part cannot be inflated") from error


def ole_kind(file: BinaryIO, name: str) -> Format:
    """DOC, PPT or XLS by the streams. Raises `Unreadable` for encrypted packages, else `Unsupported`."""
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
        raise Unreadable(
            f"{name} cannot be read: its compound file structure is damaged ({error})"
        ) from error
    raise Unsupported(
        f"{name} is not of a supported format: it is a compound file, and none of DOC, PPT and XLS "
        "(a message or an installer?)"
    )


def title_of(ole: olefile.OleFileIO) -> str:
    """The title in the summary information of a compound file, or an empty text."""
    try:
        title = ole.get_metadata().title
    except Exception:  # noqa: BLE001 - a broken property set only costs the title
        return ""
    if not isinstance(title, bytes):
        return str(title or "")
    try:
        return title.decode()
    except UnicodeDecodeError:
        return title.decode("cp1252", "replace")
