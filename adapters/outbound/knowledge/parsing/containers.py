"""ZIP packages, whose parts are read by name and whose inflated size is limited; titles of OLE files ([MS-CFB])."""

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import olefile
from lxml import etree

from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.text import codec, decoded

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError)
_READ_BYTES = 1 << 16
_LOCAL_HEADER_BYTES = 30
_PIECE = 1 << 18
_ENCRYPTED_FLAG = 0x1


def safe_root(data: bytes, *, recover: bool = False) -> Any:
    """The root element of a part; entities are not fetched. `recover`: what can be read of damaged XML, or None."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=recover)
    return etree.fromstring(data, parser)


def part_name(name: str) -> str:
    """The name of a part in one form: case makes no difference (ISO/IEC 29500-2, 6.2.2.3)."""
    return name.replace("\\", "/").lstrip("/").lower()


def release(element: Any) -> None:
    """Frees the memory of an element that was read, and of those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


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
        """Reads a part. Raises `KeyError` if it does not exist, one of `DAMAGED` if it cannot be unpacked."""
        return self._archive.read(self.members[part_name(name)])

    def read_damaged(self, name: str) -> bytes:
        """The content of a part up to where it cannot be unpacked."""
        pieces: list[bytes] = []
        with contextlib.suppress(*DAMAGED), self._archive.open(self.members[part_name(name)]) as file:
            while piece := file.read(_READ_BYTES):
                pieces.append(piece)
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
        try:
            root = safe_root(content, recover=True)
            return None if root is None else safe_root(etree.tostring(root))
        except etree.XMLSyntaxError:  # of its root element
            return None


def check_inflation(job: Job) -> None:
    """Inflates every member and counts the bytes that come out, whatever the directory declares.

    Raises `TooLarge` over the limits, `Unreadable` for encrypted members. A damaged one is counted up to its damage:
    it may be a part that the rest can do without.
    """
    limits = job.limits
    packed = max(job.path.stat().st_size, 1)
    inflated = 0
    with zipfile.ZipFile(job.path) as archive, job.path.open("rb") as file:
        for member in archive.infolist():
            if member.flag_bits & _ENCRYPTED_FLAG:
                raise job.unreadable("it is encrypted")
            for count in _inflated_sizes(file, member, job):
                inflated += count
                if inflated > limits.inflated_bytes:
                    raise job.too_large(f"its parts inflate to more than {limits.inflated_bytes // 2**20} MB")
                if inflated > limits.inflate_floor and inflated > limits.inflate_ratio * packed:
                    raise job.too_large(
                        f"its parts inflate to more than {limits.inflate_ratio} times its size"
                    )


def _inflated_sizes(file: IO[bytes], member: zipfile.ZipInfo, job: Job) -> Iterator[int]:
    """The sizes of the pieces that a member inflates to."""
    file.seek(member.header_offset)
    local = file.read(_LOCAL_HEADER_BYTES)
    if len(local) < _LOCAL_HEADER_BYTES or not local.startswith(b"PK\x03\x04"):
        return
    file.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
    if member.compress_type == zipfile.ZIP_STORED:
        yield member.file_size
    elif member.compress_type == zipfile.ZIP_DEFLATED:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        packed = b""
        with contextlib.suppress(zlib.error):
            while not stream.eof and (packed := packed or file.read(_PIECE)):
                yield len(stream.decompress(packed, _PIECE))
                packed = stream.unconsumed_tail
    else:
        raise job.unreadable("it is packed with a method that this format does not have")


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
