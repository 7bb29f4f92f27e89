"""Exchanges of the plainest kind, which nearly all are, at about half the cost of the client library or less: a
request that is whole, with an answer that is not followed elsewhere."""

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncGenerator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from adapters.outbound.http.addresses import PER_HOST
from adapters.outbound.http.bodies import whole_body
from adapters.outbound.http.checks import checked_headers, checked_url
from adapters.outbound.http.connecting import Connector, Origin
from adapters.outbound.http.connections import Connections
from adapters.outbound.http.exchange import Exchange
from adapters.outbound.http.failures import too_large, unwanted
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.http.wire import PIECE, Connection, Head, Unreadable
from ports.http import HttpAnswer, HttpRequest

USER_AGENT = "Switchboard"
SMALL_PIECE = 4096
"""A stream with larger pieces does not trickle."""
GATHER_SHARE = 0.2
"""What part of the time so far a piece of a stream may wait for others."""
_NOT_PACKED = "its body is not packed as its head says"
_UNKNOWN = frozenset({"br", "zstd", "compress", "x-compress"})
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""Sent again where a kept connection turns out to be closed (RFC 9110, 9.2.2)."""
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_DEFAULTS = {
    "user-agent": f"User-Agent: {USER_AGENT}\r\n",
    "accept": "Accept: */*\r\n",
    "accept-encoding": "Accept-Encoding: gzip, deflate\r\n",
}


class _Target(NamedTuple):
    """What of an address goes into a request. `has_user`: it names a user, for whom the client library logs in."""

    origin: Origin
    path: str
    host: str
    has_user: bool


@lru_cache(1024)
def target_of(text: str) -> _Target:
    """Raises `NoAddress`."""
    url = checked_url(text)
    assert url.raw_host is not None
    assert url.port is not None
    host = f"[{url.raw_host}]" if ":" in url.raw_host else url.raw_host
    name = host.rstrip(".") + ("" if url.is_default_port() else f":{url.port}")
    origin = Origin(url.raw_host, url.port, url.scheme == "https")
    return _Target(origin, url.raw_path_qs, name, bool(url.raw_user or url.raw_password))


def is_direct(request: HttpRequest) -> bool:
    """Whether the request is of the plain kind. Raises `NoAddress`."""
    return (
        request.method.upper() in _METHODS
        and not (request.long_poll or request.follow_redirects or request.files)
        and request.fields is None
        and (request.content is None or isinstance(request.content, bytes))
        and not target_of(request.url).has_user
    )


class DirectHttp:
    """One pool of connections for the operator's own addresses, one for those of users, whose every connection passed
    the address policy."""

    def __init__(
        self,
        policy: AddressPolicy,
        tls: ssl.SSLContext | None,
        connect_timeout: float,
        max_connections: int,
    ) -> None:
        def tls_now() -> ssl.SSLContext:
            return self._tls

        self._given_tls = tls
        own, policed = (Connector(each, tls_now, connect_timeout) for each in (None, policy))
        self._pools = (
            Connections(own.connect, max_connections),
            Connections(policed.connect, max_connections, PER_HOST),
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        if self._given_tls is not None:
            return self._given_tls
        tls = ssl.create_default_context()
        tls.set_alpn_protocols(["http/1.1"])
        return tls

    def close(self) -> None:
        for pool in self._pools:
            pool.close()

    async def send(self, exchange: Exchange) -> HttpAnswer:
        """The answer, read whole."""
        answer = _Answer(exchange, self._pools[exchange.request.user_address])
        try:
            await answer.open()
            body = await answer.read_whole()
        finally:
            answer.close()
        return HttpAnswer(answer.head.status, answer.head.headers, body)

    async def stream(self, exchange: Exchange) -> AsyncGenerator[bytes, None]:
        """The body of a 2xx answer, piece by piece."""
        request = exchange.request
        answer = _Answer(exchange, self._pools[request.user_address])
        try:
            await answer.open()
            status, headers = answer.head.status, answer.head.headers
            if not 200 <= status < 300:
                raise unwanted(request.url, HttpAnswer(status, headers, await answer.read()))
            if request.on_head:
                request.on_head(HttpAnswer(status, headers, b""))
            began = time.monotonic()
            while piece := await answer.read(request.max_bytes):
                yield piece
                if request.gather_seconds and len(piece) < SMALL_PIECE:
                    share = GATHER_SHARE * (time.monotonic() - began)
                    await answer.gather(min(request.gather_seconds, share))
        finally:
            answer.close()


class _Answer:
    """The answer to one exchange, on a connection of `pool` until it is closed."""

    def __init__(self, exchange: Exchange, pool: Connections) -> None:
        self._exchange = exchange
        self._pool = pool
        self._origin, self._data = _written(exchange.request)
        self._connection: Connection | None = None
        self._decoder: Decoder | None = None
        self._total = 0
        self.head = Head()

    async def open(self) -> None:
        """Sends the request and gets the head of the answer."""
        connection = self._connection = self._pool.take_kept(self._origin) or await self._new()
        try:
            self.head = await self._begin(connection)
        except ConnectionError:
            method = self._exchange.request.method.upper()
            if not connection.was_kept or connection.answered or method not in _REPEATABLE:
                raise
            self.close()
            connection = self._connection = await self._new()
            self.head = await self._begin(connection)
        if encoding := self.head.headers.get("content-encoding"):
            self._decoder = decoder_of(encoding)

    async def _new(self) -> Connection:
        async with asyncio.timeout_at(self._exchange.deadline):
            return await self._pool.acquire(self._origin)

    async def _begin(self, connection: Connection) -> Head:
        self._exchange.sent = True
        return await connection.begin(self._data, self._exchange.deadline)

    async def read_whole(self) -> bytes:
        limit = self._exchange.request.max_bytes
        if int(self.head.headers.get("content-length") or 0) > limit:
            raise too_large(self._exchange.request.url, limit)
        body = await self.read(limit)
        if not body:
            return b""
        pieces = [body]
        while piece := await self.read(limit):
            pieces.append(piece)
        return b"".join(pieces)

    async def read(self, limit: int | None = None) -> bytes:
        """What comes next of the body, empty at its end. Raises `HttpFailed` where more than `limit` bytes came."""
        assert self._connection is not None
        if self._decoder is None:
            piece = await self._connection.read()
        else:
            piece = await self._decoder.read(self._connection)
        self._total += len(piece)
        if limit is not None and self._total > limit:
            raise too_large(self._exchange.request.url, limit)
        return piece

    async def gather(self, seconds: float) -> None:
        assert self._connection is not None
        await self._connection.gather(seconds)

    def close(self) -> None:
        if self._connection is not None:
            self._pool.release(self._origin, self._connection)
            self._connection = None


class Decoder:
    """Unpacks a body, never more than one piece ahead of its reader."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._unpacking: Any = None
        self._left = b""

    async def read(self, connection: Connection) -> bytes:
        while True:
            packed = self._left or await connection.read()
            if self._unpacking is None or self._unpacking.eof:
                if not packed:
                    return b""
                if self._unpacking is not None:
                    await asyncio.sleep(0)  # a body may have any number of parts
                self._unpacking = zlib.decompressobj(_window(self._encoding, packed))
            piece = self._unpacked(packed)
            if piece:
                return piece
            if not packed:
                raise Unreadable(_NOT_PACKED)

    def _unpacked(self, packed: bytes) -> bytes:
        """What follows the end of a packed part is the next one (RFC 1952, 2.2)."""
        try:
            piece: bytes = self._unpacking.decompress(packed, PIECE)
        except zlib.error as error:
            raise Unreadable(_NOT_PACKED) from error
        self._left = self._unpacking.unconsumed_tail or self._unpacking.unused_data
        return piece


def _window(encoding: str, packed: bytes) -> int:
    """How zlib reads a body that begins so. Some servers send deflate without the head that it must have
    (RFC 9110, 8.4.1.2)."""
    if encoding != "deflate":
        return zlib.MAX_WBITS | 16
    return zlib.MAX_WBITS if packed[0] & 0x0F == 8 else -zlib.MAX_WBITS


def decoder_of(encoding: str) -> Decoder | None:
    encoding = encoding.lower()
    if encoding in _UNKNOWN:
        raise Unreadable(f"its body is packed as {encoding}, which it was not asked for")
    return Decoder(encoding) if encoding in ("gzip", "x-gzip", "deflate") else None


def _written(request: HttpRequest) -> tuple[Origin, bytes]:
    target, headers, body = target_of(request.url), checked_headers(request.headers), whole_body(request)
    method = request.method.upper()
    lines = [f"{method} {target.path} HTTP/1.1\r\nHost: {target.host}\r\n"]
    given = {name.lower() for name in headers}
    lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
    lines += [line for name, line in _DEFAULTS.items() if name not in given]
    content = b""
    if body is not None:
        content, kind = body
        if "content-type" not in given:
            lines.append(f"Content-Type: {kind}\r\n")
    if body is not None or method in _WITH_BODY:
        lines.append(f"Content-Length: {len(content)}\r\n")
    lines.append("\r\n")
    return target.origin, "".join(lines).encode("utf-8", "surrogateescape") + content
