"""Writes ZIP files as streams: nothing but the piece at hand and the table of contents is in memory. Pure."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from domain.rendering import off_loop

Moment = tuple[int, int, int, int, int, int]
"""Year, month, day, hour, minute, second."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    name: str
    content: AsyncIterator[bytes]


class _Sink:
    """Takes what `ZipFile` writes. It has no `tell` and no `seek`, so that nothing is written twice."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def close(self) -> None:
        """What was written is taken by the reader."""

    def flush(self) -> None:
        """Nothing waits to be written."""

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


async def zip_stream(entries: AsyncIterator[ZipEntry], at: Moment) -> AsyncIterator[bytes]:
    """The bytes of a ZIP with these entries, all of one time."""
    sink = _Sink()
    with ZipFile(sink, "w") as archive:
        async for entry in entries:
            info = ZipInfo(entry.name, at)
            info.compress_type = ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as file:
                async for piece in entry.content:
                    await off_loop(len(piece), file.write, piece)
                    if data := sink.take():
                        yield data
            yield sink.take()
    yield sink.take()
