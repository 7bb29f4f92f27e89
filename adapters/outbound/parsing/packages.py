"""ZIP packages of documents: their parts by name, whole or as far as they can be read."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

from lxml import etree

from adapters.outbound.parsing.reading import Job

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError)
_PIECE = 1 << 16


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
                while piece := file.read(_PIECE):
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
            if content is None or b"<!DOCTYPE" in content[:_PIECE]:
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
