"""Content on its way in: into a temporary file, hashed while it is written."""

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BufferedWriter
from pathlib import Path

from domain.refusals import TooLarge, full_disk_refused
from ports.files import StoredBlob


@asynccontextmanager
async def temporary_file(folder: Path | None) -> AsyncIterator[tuple[Path, BufferedWriter]]:
    """A new file, open for writing; removed afterwards if it is still there. Raises `StorageFull`."""
    with full_disk_refused():
        descriptor, name = await asyncio.to_thread(tempfile.mkstemp, dir=folder)
    path, file = Path(name), os.fdopen(descriptor, "wb")
    try:
        yield path, file
    finally:
        with contextlib.suppress(OSError):  # what a full disk did not take: it is thrown away
            file.close()
        await asyncio.to_thread(path.unlink, missing_ok=True)


@asynccontextmanager
async def received(
    content: AsyncIterator[bytes], max_bytes: int, folder: Path | None
) -> AsyncIterator[tuple[Path, StoredBlob]]:
    """The content in a temporary file, which is removed afterwards if it is still there. Raises `TooLarge`,
    `StorageFull`.
    """
    async with temporary_file(folder) as (path, file):
        digest, size = hashlib.sha256(), 0
        async for piece in content:
            size += len(piece)
            if size > max_bytes:
                raise TooLarge(f"a file may be {max_bytes / 1024 / 1024:g} MB at most")
            digest.update(piece)
            with full_disk_refused():
                await asyncio.to_thread(file.write, piece)
        with full_disk_refused():
            await asyncio.to_thread(file.close)
        key = digest.hexdigest()
        yield path, StoredBlob(key, key, size)
