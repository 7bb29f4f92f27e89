"""Blobs in an S3-compatible object store, by path-style addresses.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from adapters.outbound.blobs.incoming import received, temporary_file
from adapters.outbound.blobs.signing import EMPTY, Credentials, signed_headers
from domain.full_disk import full_disk_refused
from domain.refusals import NotFound, Unavailable
from ports.blobs import StoredBlob
from ports.clock import Clock
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

PIECE = 64 * 1024
TRANSFER = 3600.0
GONE = "the file's bytes are gone"
_KEY = re.compile(r"[0-9a-f]{64}")
_ENTRY = re.compile(r"<Contents>(.*?)</Contents>", re.DOTALL)
_FIELD = re.compile(r"<(Key|LastModified)>([^<]*)</\1>")
_NEXT = re.compile(r"<NextContinuationToken>([^<]*)</NextContinuationToken>")


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where blobs lie: `endpoint` such as https://s3.eu-central-1.amazonaws.com, keys under `prefix`."""

    endpoint: str
    name: str
    credentials: Credentials
    prefix: str = "switchboard/"
    temporary: Path | None = None


class S3Blobs:
    """Raises `Unavailable` when the store refuses or does not answer."""

    def __init__(self, http: Http, bucket: Bucket, clock: Clock) -> None:
        self._http = http
        self._bucket = bucket
        self._clock = clock

    async def put(
        self,
        content: AsyncIterator[bytes],
        max_bytes: int,
        hold: Callable[[StoredBlob], Awaitable[None]] | None = None,
    ) -> StoredBlob:
        async with received(content, max_bytes, self._bucket.temporary) as (path, blob):
            if hold:
                await hold(blob)
            headers = {"content-type": "application/octet-stream"}
            signed = self._request("PUT", self._url(blob.key), headers, blob.sha256, timeout=TRANSFER)
            size = {"content-length": str(blob.size)}
            await self._sent(replace(signed, headers={**signed.headers, **size}, content=_pieces(path)))
        return blob

    async def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        size = await self.size(key)
        end = size if length is None else min(size, offset + length)
        if offset >= end:
            return
        headers = {"range": f"bytes={offset}-{end - 1}"}
        request = self._request(
            "GET", self._url(key), headers, EMPTY, max_bytes=end - offset, timeout=TRANSFER
        )
        try:
            async for piece in self._http.stream(request):
                yield piece
        except HttpFailed as error:
            raise Unavailable(f"the file store: {error}") from error

    async def size(self, key: str) -> int:
        answer = await self._sent(self._request("HEAD", self._url(key), {}, EMPTY), missing=True)
        if answer.status == 404:
            raise NotFound(GONE)
        return int(answer.headers["content-length"])

    async def delete(self, key: str) -> None:
        await self._sent(self._request("DELETE", self._url(key), {}, EMPTY), missing=True)

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
        token: str | None = None
        while True:
            query = {"list-type": "2", "prefix": self._bucket.prefix}
            if token:
                query["continuation-token"] = token
            url = f"{self._bucket.endpoint}/{self._bucket.name}?{urlencode(query, quote_via=quote)}"
            text = (await self._sent(self._request("GET", url, {}, EMPTY))).body.decode()
            for entry in _ENTRY.findall(text):
                found = dict(_FIELD.findall(entry))
                key = found["Key"].removeprefix(self._bucket.prefix)
                if _KEY.fullmatch(key):
                    yield key, datetime.fromisoformat(found["LastModified"])
            following = _NEXT.search(text)
            if following is None:
                return
            token = following.group(1)

    def _url(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise NotFound(GONE)
        return f"{self._bucket.endpoint}/{self._bucket.name}/{quote(self._bucket.prefix)}{key}"

    def _request(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        payload_hash: str,
        *,
        max_bytes: int = 10_000_000,
        timeout: float = 60.0,
    ) -> HttpRequest:
        signed = signed_headers(
            self._bucket.credentials, method, url, headers, payload_hash, self._clock.now()
        )
        return HttpRequest(method, url, headers=signed, max_bytes=max_bytes, timeout=timeout)

    async def _sent(self, request: HttpRequest, *, missing: bool = False) -> HttpAnswer:
        """The answer; 404 only where it may be missing."""
        try:
            answer = await self._http.send(request)
        except HttpFailed as error:
            raise Unavailable(f"the file store: {error}") from error
        if not answer.ok and not (missing and answer.status == 404):
            raise Unavailable(f"the file store answered {answer.status} to {request.method}")
        return answer


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece
