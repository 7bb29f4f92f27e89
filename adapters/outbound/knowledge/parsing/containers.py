"""ZIP packages, whose parts are read by name and whose inflated size is limited; titles of OLE files ([MS-CFB])."""

import contextlib
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, BinaryIO

import olefile
from lxml import etree

from adapters.outbound.knowledge.parsing.reading import LABELS, Job, Limits
from adapters.outbound.knowledge.parsing.text import codec, decoded
from domain.knowledge.documents import Format
from domain.refusals import TooLarge, Unreadable, Unsupported

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError)
_READ_BYTES = 1 << 16


def safe_root(data: bytes, *, recover: bool = False) -> Any:
    """The root element of a part; entities are not fetched. `recover`: what can be read of damaged XML, or None."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=recover)
    return etree.fromstring(data, parser)


class Package:
    """The parts of a package by their names, in whichever case and with whichever slashes they are written."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self.members: dict[str, zipfile.ZipInfo] = {}
        for member in self._archive.infolist():
            self.members.setdefault(part_name(member.filename), member)

    def __contains__(self, name: str) -> bool:
        return part_name(name) in self.members

    def read(self, name: str) -> bytes:
        """The content of a part. Raises `KeyError` if there is none, one of `DAMAGED` if it cannot be unpacked."""
        return self._archive.read(self.members[part_name(name)])

    def read_damaged(self, name: str) -> bytes:
        """The content of a part up to where it cannot be unpacked."""
        pieces: list[bytes] = []
        try:
            with self._archive.open(self.members[part_name(name)]) as file:
                while piece := file.read(_READ_BYTES):
                    pieces.append(piece)
        except DAMAGED:
            pass
        return b"".join(pieces)

    def root(self, name: str) -> Any:
        return safe_root(self.read(name))

    def recovered(self, job: Job, name: str, content: bytes | None = None) -> Any:
        """The root of a part, or of `content`; of a damaged one what can be read, with a warning, or None.

        Raises the error of damaged XML with a document type of its own, which no part may have.
        """
        try:
            content = self.read(name) if content is None else content
            return safe_root(content)
        except DAMAGED:
            content = self.read_damaged(name)
        except etree.XMLSyntaxError:
            if content is None or b"<!DOCTYPE" in content[:_READ_BYTES]:
                raise
        job.warn(f"the part {name} is damaged, so that not all of it was read")
        return _recovered(content)


def _recovered(content: bytes) -> Any:
    """What can be read of damaged XML; None if its root element is damaged."""
    try:
        root = safe_root(content, recover=True)
        return None if root is None else safe_root(etree.tostring(root))
    except etree.XMLSyntaxError:
        return None


def part_name(name: str) -> str:
    """The name of a part in one form: case makes no difference (ISO/IEC 29500-2, 6.2.2.3)."""
    return name.replace("\\", "/").lstrip("/").lower()


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
_STORED, _DEFLATED = 0, 8
_LOCAL_HEADER_BYTES = 30
_PIECE = 1 << 18
_ENCRYPTED_FLAG = 0x1


def office_kind(file: BinaryIO, name: str, wanted: Format | None, limits: Limits) -> Format:
    """The format of a ZIP archive, by what it declares and by its members. Raises `Unsupported` for any other."""
    try:
        with zipfile.ZipFile(file) as archive:
            declared = _declared(archive) if _DECLARATION in archive.namelist() else None
            members = [part_name(name) for name in archive.namelist()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error) as error:
        if wanted is not None and wanted in _CONTAINERS:
            reason = "it is damaged or cut off, its directory cannot be read"
            raise Unreadable(f"{name} cannot be read as {LABELS[wanted]}: {reason}") from error
        raise Unsupported(f"{name} is not of a supported format: it is a damaged ZIP archive") from error
    if len(members) > limits.members:
        raise TooLarge(f"{name} is too large: it holds more than {limits.members:,} parts")
    if found := declared or _office_parts(members):
        return found
    if wanted is not None and wanted in _CONTAINERS:
        reason = f"it is a ZIP archive without the parts of a {LABELS[wanted]}"
        raise Unreadable(f"{name} cannot be read as {LABELS[wanted]}: {reason}")
    raise Unsupported(
        f"{name} is not of a supported format: it is a ZIP archive (upload the files in it one by one)"
    )


def _declared(archive: zipfile.ZipFile) -> Format | None:
    with archive.open(_DECLARATION) as member:
        return _DECLARED.get(member.read(_DECLARATION_BYTES).strip())


def _office_parts(members: Sequence[str]) -> Format | None:
    if "[content_types].xml" in members:
        for prefix, format_ in _OFFICE.items():
            if any(member.startswith(prefix) for member in members):
                return format_
    return None


def check_inflation(job: Job) -> None:
    """Inflates every member and counts the bytes that come out, whatever the directory declares.

    Raises `TooLarge` over the limits, `Unreadable` for encrypted members. A damaged one is counted up to its damage:
    it may be a part that the rest can do without.
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
        return
    skip = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    file.seek(skip, 1)
    if member.compress_type == _STORED:
        budget.spend(member.file_size)
    elif member.compress_type == _DEFLATED:
        _drain_deflate(file, budget)
    else:
        raise job.unreadable("it is packed with a method that this format does not have")


def _drain_deflate(file: IO[bytes], budget: _Budget) -> None:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    packed = b""
    with contextlib.suppress(zlib.error):
        while not stream.eof:
            packed = packed or file.read(_PIECE)
            if not packed:
                return
            budget.spend(len(stream.decompress(packed, _PIECE)))
            packed = stream.unconsumed_tail


def ole_kind(file: BinaryIO, name: str) -> Format:
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


def title_of(ole: olefile.OleFileIO) -> str:
    """The title in the summary information of a compound file, in its code page ([MS-OLEPS] 2.17); else empty."""
    try:
        metadata = ole.get_metadata()
        title, page = metadata.title, metadata.codepage
    except Exception:  # noqa: BLE001 - a broken property set only costs the title
        return ""
    if not isinstance(title, bytes):
        return str(title or "")
    with contextlib.suppress(UnicodeDecodeError, LookupError):
        return title.decode(codec(page or 0))
    return decoded(title) or ""
