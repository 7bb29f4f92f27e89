"""Blobs as files: content-addressed, written to a temporary file and hashed while they arrive, durable before they
are known. And blobs in an S3-compatible object store, by path-style addresses, through obstore.
"""

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING

from domain.refusals import NotFound, TooLarge, Unavailable, full_disk_refused
from ports.files import StoredBlob

if TYPE_CHECKING:
    from obstore.store import S3Store

PIECE = 64 * 1024
ABANDONED = 24 * 3600.0
GONE = "the file's bytes are gone"
_KEY = re.compile(r"[0-9a-f]{64}")

_LONGEST_TRANSFER = timedelta(hours=1)
_CONNECT_TIMEOUT = timedelta(seconds=10)
_RETRY_TIMEOUT = timedelta(seconds=20)
_PARTS_AT_ONCE = 2
"""Parts of 5 MiB that a long upload holds in memory."""
_STATUS = re.compile(r"status code: (\d{3})")


@dataclass(frozen=True, slots=True)
class FileBlobs:
    """One file for each blob under `root`, in folders by the first two digits of its key."""

    root: Path

    async def put(
        self,
        content: AsyncIterator[bytes],
        max_bytes: int,
        reference: Callable[[StoredBlob], Awaitable[None]] | None = None,
    ) -> StoredBlob:
        folder = self.root / "incoming"
        with full_disk_refused():
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True, mode=0o700)
        async with received(content, max_bytes, folder) as (path, blob):
            if reference:
                await reference(blob)
            with full_disk_refused():
                await asyncio.to_thread(self._move_into_place, path, blob.key)
        return blob

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        path = self._path(key)
        opening = asyncio.create_task(asyncio.to_thread(lambda: path.open("rb")))
        try:
            opened = await asyncio.shield(opening)
        except FileNotFoundError:
            raise NotFound(GONE) from None
        except asyncio.CancelledError:  # no open file is left behind
            opening.add_done_callback(_close)
            raise
        with opened as file:
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
        if await asyncio.to_thread(self.root.exists) and not os.access(self.root, os.W_OK | os.X_OK):
            raise Unavailable(f"the folder {self.root} cannot be written: give it to the user of the service")

    async def keys(self) -> AsyncIterator[tuple[str, datetime]]:
        for entry in await asyncio.to_thread(self._listed):
            yield entry

    def _listed(self) -> list[tuple[str, datetime]]:
        entries = []
        for path in self.root.glob("incoming/*"):  # what a process that died was writing
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink(missing_ok=True)
        for path in self.root.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                entries.append((path.name, datetime.fromtimestamp(path.stat().st_mtime, UTC)))
        return entries

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise NotFound(GONE)
        return self.root / key[:2] / key

    def _move_into_place(self, written: Path, key: str) -> None:
        sync(written)
        path = self._path(key)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        written.replace(path)
        sync(path.parent)


def _close(opening: asyncio.Task[BufferedReader]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def sync(path: Path) -> None:
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


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where blobs lie: `endpoint` such as https://s3.eu-central-1.amazonaws.com, keys under `prefix`."""

    endpoint: str
    name: str
    key_id: str
    secret: str = field(repr=False)
    region: str = "us-east-1"
    prefix: str = "switchboard/"
    temporary: Path | None = None


class S3Blobs:
    """Raises `Unavailable` when the store refuses or does not answer."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def put(
        self,
        content: AsyncIterator[bytes],
        max_bytes: int,
        reference: Callable[[StoredBlob], Awaitable[None]] | None = None,
    ) -> StoredBlob:
        async with received(content, max_bytes, self._bucket.temporary) as (path, blob):
            if reference:
                await reference(blob)
            with self._errors():
                await self._store.put_async(self._path(blob.key), path, max_concurrency=_PARTS_AT_ONCE)
        return blob

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        size = await self.size(key)
        end = size if length is None else min(size, offset + length)
        if offset >= end:
            return
        with self._errors():
            answer = await self._store.get_async(self._path(key), options={"range": (offset, end)})
            async for chunk in answer.stream(min_chunk_size=PIECE):
                for start in range(0, len(chunk), PIECE):
                    yield bytes(chunk[start : start + PIECE])

    async def size(self, key: str) -> int:
        try:
            with self._errors():
                size: int = (await self._store.head_async(self._path(key)))["size"]
        except NotFound:
            await self.check()  # the answer to HEAD does not say whether the key is absent, or the bucket
            raise
        return size

    async def check(self) -> None:
        """Raises `Unavailable` if the bucket does not exist, or cannot be listed."""
        with self._errors():
            async for _ in self._store.list(self._bucket.prefix):
                break

    async def delete(self, key: str) -> None:
        with self._errors():
            await self._store.delete_async(self._path(key))

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        async with temporary_file(self._bucket.temporary) as (path, file):
            async for piece in self.open(key):
                with full_disk_refused():
                    await asyncio.to_thread(file.write, piece)
            with full_disk_refused():
                await asyncio.to_thread(file.close)
            yield path

    async def keys(self) -> AsyncIterator[tuple[str, datetime]]:
        with self._errors():
            async for page in self._store.list(self._bucket.prefix):
                for entry in page:
                    key = entry["path"].rpartition("/")[2]
                    if _KEY.fullmatch(key):
                        yield key, entry["last_modified"]

    @cached_property
    def _store(self) -> "S3Store":
        from obstore.store import S3Store

        return S3Store(
            self._bucket.name,
            endpoint=self._bucket.endpoint,
            region=self._bucket.region,
            access_key_id=self._bucket.key_id,
            secret_access_key=self._bucket.secret,
            virtual_hosted_style_request=False,
            client_options={
                "allow_http": True,
                "timeout": _LONGEST_TRANSFER,
                "connect_timeout": _CONNECT_TIMEOUT,
            },
            retry_config={"max_retries": 2, "retry_timeout": _RETRY_TIMEOUT},
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            status = _STATUS.search(str(error))
            if "NoSuchBucket" in str(error) or (
                status and status[1] == "404" and not isinstance(error, OSError)
            ):
                raise Unavailable(
                    f"the bucket {self._bucket.name} of the file store does not exist; create it, or correct"
                    " BLOB_S3_BUCKET, BLOB_S3_ENDPOINT and BLOB_S3_REGION"
                ) from error
            if isinstance(error, FileNotFoundError):
                raise NotFound(GONE) from None
            what = f"answers with status {status[1]}" if status else "cannot be reached"
            raise Unavailable(f"the file store {what}") from error

    def _path(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise NotFound(GONE)
        return f"{self._bucket.prefix}{key}"
