"""ZIP files that are written as streams."""

import io
import tracemalloc
import zipfile
from collections.abc import AsyncIterator

import pytest

from domain.people.zip_stream import ZipEntry, zip_stream

AT = (2026, 11, 28, 6, 30, 0)


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


async def entries(*named: tuple[str, bytes]) -> AsyncIterator[ZipEntry]:
    for name, content in named:
        yield ZipEntry(name, pieces(content))


async def written(*named: tuple[str, bytes]) -> zipfile.ZipFile:
    data = b"".join([piece async for piece in zip_stream(entries(*named), AT)])
    return zipfile.ZipFile(io.BytesIO(data))


async def test_what_is_written_can_be_read() -> None:
    content = {"a.json": b"{}", "folder/b.bin": bytes(range(256)) * 4000, "empty": b"", "süß.txt": b"x"}
    archive = await written(*content.items())
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == content
    assert {info.date_time for info in archive.infolist()} == {AT}


async def test_no_entries_are_an_empty_zip() -> None:
    assert (await written()).namelist() == []


async def test_large_files_are_not_held_in_memory() -> None:
    async def large() -> AsyncIterator[ZipEntry]:
        async def content() -> AsyncIterator[bytes]:
            for number in range(1000):
                yield number.to_bytes(4, "big") * 16384

        yield ZipEntry("large", content())

    tracemalloc.start()
    try:
        size = 0
        async for piece in zip_stream(large(), AT):
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 0
    assert peak < 8 * 2**20


async def test_a_failure_of_the_content_ends_the_stream() -> None:
    async def failing() -> AsyncIterator[ZipEntry]:
        async def content() -> AsyncIterator[bytes]:
            yield b"beginning"
            raise OSError("the disk is away")

        yield ZipEntry("a", content())

    with pytest.raises(OSError, match="the disk is away"):
        async for _ in zip_stream(failing(), AT):
            pass
