"""Blobs in an S3-compatible object store, by path-style addresses, through obstore."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.outbound.system.blobs import received, temporary_file
from domain.refusals import NotFound, Unavailable, full_disk_refused
from ports.files import StoredBlob

if TYPE_CHECKING:
    from obstore.store import S3Store

PIECE = 64 * 1024
GONE = "the file's bytes are gone"
_LONGEST_TRANSFER = timedelta(hours=1)
_CONNECT_TIMEOUT = timedelta(seconds=10)
_RETRY_TIMEOUT = timedelta(seconds=20)
_PARTS_AT_ONCE = 2
"""Parts of 5 MiB that a long upload holds in memory."""
_STATUS = re.compile(r"status code: (\d{3})")
_KEY = re.compile(r"[0-9a-f]{64}")


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
    def _store(self) -> S3Store:
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
