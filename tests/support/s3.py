"""A small S3: one bucket in memory, which takes signed requests alone.

The signature is computed here from the raw request, independently of the code under test.
"""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import quote

from aiohttp import web

from tests.support.servers import serving

KEY_ID, SECRET, REGION, BUCKET = "AKIDTEST", "se/cret+key", "eu-test-1", "files"
PAGE = 2


class FakeS3:
    """`objects` by key; `refuse` makes every answer that status."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.refuse: int | None = None
        self.parts: dict[int, bytes] = {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if self.refuse:
            return web.Response(status=self.refuse)
        if not _genuine(request, body):
            return web.Response(status=403, text="SignatureDoesNotMatch")
        bucket, _, key = request.path.removeprefix("/").partition("/")
        if bucket != BUCKET:
            return web.Response(status=404, text="NoSuchBucket")
        if not key and "delete" in request.query:
            keys = re.findall(r"<Key>(.*?)</Key>", body.decode())
            for deleted in keys:
                self.objects.pop(deleted, None)
            entries = "".join(f"<Deleted><Key>{deleted}</Key></Deleted>" for deleted in keys)
            return _xml("DeleteResult", entries)
        if not key:
            return self._list(request)
        if "uploads" in request.query or "uploadId" in request.query:
            return self._multipart(request, key, body)
        return self._object(request, key, body)

    def _object(self, request: web.Request, key: str, body: bytes) -> web.StreamResponse:
        if request.method == "PUT":
            if request.headers.get("transfer-encoding"):
                return web.Response(status=411, text="MissingContentLength")
            self.objects[key] = body
            return web.Response(headers=_headers(body))
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return web.Response(status=204)
        if key not in self.objects:
            return web.Response(status=404)
        whole = self.objects[key]
        if request.method == "HEAD":
            return web.Response(headers={**_headers(whole), "content-length": str(len(whole))})
        if "range" not in request.headers:
            return web.Response(headers=_headers(whole), body=whole)
        span = range(len(whole))[request.http_range]
        if not span:
            return web.Response(status=416, text="InvalidRange")
        found = {"content-range": f"bytes {span[0]}-{span[-1]}/{len(whole)}"}
        return web.Response(status=206, headers=_headers(whole) | found, body=whole[span[0] : span[-1] + 1])

    def _multipart(self, request: web.Request, key: str, body: bytes) -> web.Response:
        if "uploads" in request.query:
            self.parts = {}
            return web.Response(
                text="<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
            )
        if request.method == "PUT":
            self.parts[int(request.query["partNumber"])] = body
            return web.Response(headers=_headers(body))
        self.objects[key] = b"".join(self.parts[number] for number in sorted(self.parts))
        return web.Response(
            text='<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>'
        )

    def _list(self, request: web.Request) -> web.Response:
        keys = sorted(key for key in self.objects if key.startswith(request.query["prefix"]))
        start = int(request.query.get("continuation-token", "0"))
        shown, more = keys[start : start + PAGE], len(keys) > start + PAGE
        written = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        entries = "".join(
            f"<Contents><Key>{key}</Key><LastModified>{written}</LastModified><Size>{len(self.objects[key])}</Size>"
            "</Contents>"
            for key in shown
        )
        token = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if more else ""
        return _xml("ListBucketResult", entries + token)


def _xml(name: str, content: str) -> web.Response:
    return web.Response(text=f"<{name}>{content}</{name}>")


def _headers(content: bytes) -> dict[str, str]:
    written = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    return {"etag": f'"{hashlib.md5(content).hexdigest()}"', "last-modified": written}


def _genuine(request: web.Request, body: bytes) -> bool:
    given = request.headers.get("authorization", "")
    stamp = request.headers.get("x-amz-date", "")
    if (
        abs((datetime.now(UTC) - datetime.strptime(stamp + "+0000", "%Y%m%dT%H%M%SZ%z")).total_seconds())
        > 900
    ):
        return False
    if request.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return False
    fields = dict(part.strip().split("=", 1) for part in given.partition(" ")[2].split(","))
    names = fields["SignedHeaders"].split(";")
    query = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in request.query.items())
    canonical = "\n".join(
        [
            request.method,
            request.raw_path.partition("?")[0],
            "&".join(f"{k}={v}" for k, v in query),
            *(f"{name}:{request.headers[name]}" for name in names),
            "",
            fields["SignedHeaders"],
            request.headers["x-amz-content-sha256"],
        ]
    )
    scope = f"{stamp[:8]}/{REGION}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = b"AWS4" + SECRET.encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return fields["Credential"] == f"{KEY_ID}/{scope}" and "host" in names and fields["Signature"] == expected


@asynccontextmanager
async def running_s3() -> AsyncIterator[tuple[FakeS3, str]]:
    store = FakeS3()
    async with serving(store.handle) as address:
        yield store, address
