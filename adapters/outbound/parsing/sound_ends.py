"""Whether a recording holds as much as it says: libsndfile reads what is there of one that was cut off."""

import os
from pathlib import Path
from typing import BinaryIO, Literal

from adapters.outbound.parsing.mpeg import mpeg_frame
from domain.knowledge.documents import Format

_UNKNOWN_SIZES = range(0x7FFF_F000, 0x1_0000_0000)
"""What programs write that do not know how much will follow."""
_OGG_HEADER, _OGG_MOST = 27, 65_307
_FIRST_FRAME = 200
"""Bytes in which the count of frames stands."""


def is_cut_off(path: Path, format_: Format) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        if format_ is Format.WAV:
            return _wav(file, size)
        return _ogg(file, size) if format_ is Format.OGG else _mp3(file, size)


def _wav(file: BinaryIO, size: int) -> bool:
    """A "data" chunk that is longer than the file."""
    order: Literal["big", "little"] = "big" if file.read(12)[:4] == b"RIFX" else "little"
    while len(head := file.read(8)) == 8:
        length = int.from_bytes(head[4:], order)
        if head[:4] == b"data":
            return length not in _UNKNOWN_SIZES and file.tell() + length > size + 1
        file.seek(length + length % 2, os.SEEK_CUR)
    return False


def _ogg(file: BinaryIO, size: int) -> bool:
    """A last page that is longer than what is left of the file (RFC 3533, 6)."""
    file.seek(max(0, size - _OGG_MOST))
    tail = file.read()
    start = tail.rfind(b"OggS")
    if start < 0:
        return True
    page = tail[start:]
    segments = page[_OGG_HEADER - 1] if len(page) >= _OGG_HEADER else 0
    lacing = page[_OGG_HEADER : _OGG_HEADER + segments]
    is_whole = len(page) >= _OGG_HEADER and len(lacing) == segments
    return not is_whole or _OGG_HEADER + segments + sum(lacing) > len(page)


def _mp3(file: BinaryIO, size: int) -> bool:
    """A last frame that is longer than what is left of the file, or fewer frames than the first one says.

    What is no frame, such as a tag, ends the sound.
    """
    at = _behind_id3(file.read(10))
    file.seek(at)
    told = _frames_told(file.read(_FIRST_FRAME))
    count = 0
    while at < size:
        file.seek(at)
        length = mpeg_frame(file.read(4))
        if not length:
            break
        at += length
        count += 1
    return at > size or count < told


def _frames_told(head: bytes) -> int:
    """How many frames follow, as encoders write it into the first one ("Xing" or "Info"); 0 where they do not."""
    found = max(head.find(b"Xing"), head.find(b"Info"))
    told = head[found + 4 : found + 12] if found >= 0 else b""
    return int.from_bytes(told[4:], "big") if len(told) == 8 and told[3] & 1 else 0


def _behind_id3(head: bytes) -> int:
    """Where the sound begins: behind a tag, whose length is given in groups of seven bits (ID3v2.4, 3.1)."""
    if len(head) < 10 or head[:3] != b"ID3":
        return 0
    length = 0
    for byte in head[6:10]:
        length = length << 7 | byte & 0x7F
    return 10 + length + (10 if head[5] & 0x10 else 0)
