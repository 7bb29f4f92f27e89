"""Blobs as files: content-addressed, written to a temporary file and hashed while they arrive, durable before they
are known.
"""

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO

from domain.refusals import NotFound, TooLarge, Unavailable, full_disk_refused
from ports.files import StoredBlob

PIECE = 64 * 1024
ABANDONED = 24 * 3600.0
GONE = "the file's bytes are gone"
_KEY = re.compile(r"[0-9a-f]{64}")


class FileBlobs:
    """One file for each blob under `root`, in folders by the first two digits of its key."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(
        self,
        content: AsyncIterator[bytes],
        max_bytes: int,
        reference: Callable[[StoredBlob], Awaitable[None]] | None = None,
    ) -> StoredBlob:
        with full_disk_refused():
            folder = await asyncio.to_thread(self._incoming)
        async with received(content, max_bytes, folder) as (path, blob):
            if reference:
                await reference(blob)
            with full_disk_refused():
                await asyncio.to_thread(self._move_into_place, path, blob.key)
        return blob

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        with await self._open(key) as file:
            file.seek(offset)
            left = length
            while left is None or left > 0:
                piece = await asyncio.to_thread(file.read, PIECE if left is None else min(PIECE, left))
                if not piece:
                    return
                left = None if left is None else left - len(piece)
                yield piece

    async def size(self, key: str) -> int:
        try:
            return (await asyncio.to_thread(self._path(key).stat)).st_size
        except FileNotFoundError:
            raise NotFound(GONE) from None

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        await self.size(key)
        yield self._path(key)

    async def check(self) -> None:
        """A folder that is not there yet is made with the first file."""
        if await asyncio.to_thread(self._root.exists) and not os.access(self._root, os.W_OK | os.X_OK):
            raise Unavailable(
                f"the folder {self._root} cannot be written: give it to the user of the service"
            )

    async def keys(self) -> AsyncIterator[tuple[str, datetime]]:
        for entry in await asyncio.to_thread(self._listed):
            yield entry

    def _listed(self) -> list[tuple[str, datetime]]:
        entries = []
        for path in self._root.glob("incoming/*"):  # what a process that died was writing
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink(missing_ok=True)
        for path in self._root.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                entries.append((path.name, datetime.fromtimestamp(path.stat().st_mtime, UTC)))
        return entries

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise NotFound(GONE)
        return self._root / key[:2] / key

    async def _open(self, key: str) -> BinaryIO:
        """A caller that is cancelled meanwhile leaves no open file behind."""
        opening = asyncio.create_task(asyncio.to_thread(self._opened, key))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close)
            raise

    def _opened(self, key: str) -> BinaryIO:
        try:
            return self._path(key).open("rb")
        except FileNotFoundError:
            raise NotFound(GONE) from None

    def _incoming(self) -> Path:
        folder = self._root / "incoming"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def _move_into_place(self, written: Path, key: str) -> None:
        _sync(written)
        path = self._path(key)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        written.replace(path)
        _sync(path.parent)


def _close(opening: asyncio.Task[BinaryIO]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _sync(path: Path) -> None:
    """Makes a file's bytes, or a folder's names, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
