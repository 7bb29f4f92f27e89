"""`ports.http.Http` on aiohttp: one shared client for every call that leaves the service."""

import asyncio
import io
import json
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urljoin

import aiohttp
import orjson
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.http_exceptions import ContentEncodingError
from aiohttp.payload import AsyncIterablePayload, BytesIOPayload, BytesPayload, Payload
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from adapters.outbound.net.addresses import AddressPolicy, Forbidden, PolicedSockets, numeric_host, refused
from adapters.outbound.net.urls import checked_headers, checked_url, for_hop, safe_url
from adapters.system_errors import system_reason
from ports.http import AddressRefused, AnswerTooLarge, HttpAnswer, HttpFailed, HttpRequest, NoAddress

USER_AGENT = "Switchboard"
KEPT_SECONDS = 15.0
"""How long a connection without an exchange is kept."""
NAME_SECONDS = 30
"""How long the addresses of a name are remembered."""
PER_HOST = 32
"""Connections to one host that a user named."""
MAX_REDIRECTS = 5
MAX_HEADERS = 512
"""Headers of an answer, each of which aiohttp takes up to 8190 bytes."""
PIECE = 64 * 1024
"""Bytes that are read or written at once, so that they do not hold up the event loop."""
SMALL_PIECE = 4096
"""A stream with larger pieces does not trickle."""
GATHER_SHARE = 0.2
"""What part of the time so far a piece of a stream may wait for others."""
_NO_HTTP = "does not answer as HTTP/1.1 wants it"
_QUOTED = re.compile(r":?\s*(?:\n|b['\"])")
"""Where an error of the parser begins to quote what the server sent."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
"""How the HTML standard escapes names in multipart/form-data; all else goes out as UTF-8 (RFC 7578, 4.2)."""

Observe = Callable[[str, str, float], None]
"""Called after each exchange with a label ('user' for addresses that users gave, else the host), its outcome, and the
seconds it took."""


@dataclass(slots=True)
class _Exchange:
    """How far a request came. `sent` once the first byte may have left; `source_error` is what went wrong with
    streamed content, which is not the server's fault."""

    request: HttpRequest
    started: float = field(default_factory=time.monotonic)
    sent: bool = False
    status: int = 0
    source_error: Exception | None = None


_current: ContextVar[_Exchange] = ContextVar("exchange")


class _Request(aiohttp.ClientRequest):
    """Marks its exchange as sent once there is a connection to write to; a TraceConfig costs more for each call."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        _current.get().sent = True
        return await super().send(conn)


@dataclass(slots=True)
class _Pool:
    """A session that closes when it was told to and its last exchange has ended."""

    session: aiohttp.ClientSession
    exchanges: int = 0
    is_closing: bool = False


class AioHttp:
    """Sends over connection pools made on first use in the running loop: one for the operator's own addresses, one
    whose every connection passed the address policy, and for long polls one more of each, without a limit."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        observe: Observe | None = None,
        connect_timeout: float = 10.0,
        max_connections: int = 512,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self._observe = observe
        self._connect_timeout = connect_timeout
        self._max_connections = max_connections
        self._tls: ssl.SSLContext | bool = tls if tls is not None else True
        self._refuses = lru_cache(1024)(self._is_forbidden_literal)
        self._pools: dict[tuple[bool, bool], _Pool] = {}

    async def close(self) -> None:
        """Closes all connections, each at the end of its exchange; a later request opens new ones."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.is_closing = True
            if not pool.exchanges:
                await pool.session.close()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Sends and reads the whole answer, within `timeout`. Raises `HttpFailed`."""
        exchange = _Exchange(request)
        with self._observed(exchange):
            async with self._response(exchange) as response:
                limit, pieces, total = request.max_bytes, [], 0
                if (response.content_length or 0) > limit:
                    raise _too_large(str(response.url), limit)
                while piece := await response.content.read(PIECE):
                    total += len(piece)
                    if total > limit:
                        raise _too_large(str(response.url), limit)
                    pieces.append(piece)
            return _answer(response, b"".join(pieces))

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer in pieces of at most 64 KiB. Raises `HttpFailed`.

        `timeout` covers the whole stream; the time the reader takes between pieces counts.
        """
        exchange = _Exchange(request)
        with self._observed(exchange):
            async with self._response(exchange) as response:
                if not 200 <= response.status < 300:
                    answer = _answer(response, await response.content.read(PIECE))
                    raise HttpFailed(
                        f"{safe_url(request.url)} answers with status {answer.status}",
                        before_request=False,
                        answer=answer,
                    )
                if request.on_head:
                    request.on_head(_answer(response, b""))
                began, total = time.monotonic(), 0
                while piece := await response.content.read(PIECE):
                    total += len(piece)
                    if total > request.max_bytes:
                        raise _too_large(request.url, request.max_bytes)
                    yield piece
                    if len(piece) == PIECE:  # more of it is here already, which would come without a pause
                        await asyncio.sleep(0)
                    elif request.gather_seconds and len(piece) < SMALL_PIECE:
                        share = GATHER_SHARE * (time.monotonic() - began)
                        await _gather(response, min(request.gather_seconds, share))

    @asynccontextmanager
    async def _response(self, exchange: _Exchange) -> AsyncIterator[aiohttp.ClientResponse]:
        """The head of the answer. What the block does not read of the body is not read by anybody: its connection is
        closed."""
        request = exchange.request
        key = request.user_address, request.long_poll
        pool = self._pools.get(key)
        if pool is None:
            policy = self._policy if request.user_address else None
            session = aiohttp.ClientSession(
                connector=connector(policy, 0 if request.long_poll else self._max_connections),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"},
                skip_auto_headers=("Content-Type",),
                request_class=_Request,
                trust_env=False,
                max_headers=MAX_HEADERS,
            )
            pool = self._pools[key] = _Pool(session)
        pool.exchanges += 1
        response = None
        try:
            response = await self._open(pool.session, exchange)
            exchange.status = response.status
            if response.status < 200:
                raise HttpFailed(
                    f"{safe_url(request.url)} {_NO_HTTP}: it changes the protocol", before_request=False
                )
            yield response
        finally:
            if response is not None:
                response.close()
            pool.exchanges -= 1
            if pool.is_closing and not pool.exchanges:
                await pool.session.close()

    async def _open(self, session: aiohttp.ClientSession, exchange: _Exchange) -> aiohttp.ClientResponse:
        """Sends the request, and follows redirects of a GET that allows them."""
        _current.set(exchange)
        request = exchange.request
        method = request.method.upper()
        url, headers = checked_url(request.url), checked_headers(request.headers)
        body, content_type = _body(exchange)
        if content_type and "content-type" not in map(str.lower, headers):
            headers["Content-Type"] = content_type
        for _ in range(MAX_REDIRECTS + 1):
            host = url.host or ""
            if request.user_address and self._refuses(host):
                raise refused(host)
            response = await session.request(
                method,
                _without_user(url, headers),
                headers=headers,
                data=body,
                allow_redirects=False,
                ssl=self._tls,
                timeout=aiohttp.ClientTimeout(
                    # for the whole exchange, to the fraction of a second; 0 would be no limit
                    total=max(request.timeout - (time.monotonic() - exchange.started), 0.001),
                    sock_connect=self._connect_timeout,
                    ceil_threshold=float("inf"),
                ),
            )
            location = response.headers.get("Location") if response.status in _REDIRECTS else None
            if location is None or method != "GET" or not request.follow_redirects:
                return response
            response.release()
            target = _next_hop(url, location)
            url, headers = target, for_hop(headers, url, target)
        raise HttpFailed(
            f"{safe_url(request.url)} redirects more than {MAX_REDIRECTS} times", before_request=False
        )

    def _is_forbidden_literal(self, host: str) -> bool:
        """Return True if the host is itself an address that the policy forbids; names are checked when resolved."""
        literal = numeric_host(host) or (host if ":" in host else None)
        return literal is not None and not self._policy.allows(literal)

    @contextmanager
    def _observed(self, exchange: _Exchange) -> Iterator[None]:
        """Raises `HttpFailed` for whatever goes wrong, and reports the outcome of the exchange."""
        try:
            yield
        except (HttpFailed, aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            source = exchange.source_error
            if isinstance(source, HttpFailed):
                failed = source
            elif source is not None:
                failed = HttpFailed("the content to send cannot be read", before_request=False)
            elif isinstance(error, HttpFailed):
                failed = error
            else:
                failed = failure(error, exchange.request, exchange.sent)
            self._report(exchange, failed)
            if failed is error:
                raise
            raise failed from error
        self._report(exchange, None)

    def _report(self, exchange: _Exchange, failed: HttpFailed | None) -> None:
        """The outcome is a short word for metrics: the class of the status, or how the exchange broke."""
        if self._observe is None:
            return
        status = failed.answer.status if failed and failed.answer else exchange.status
        if isinstance(failed, AddressRefused):
            outcome = "address_refused"
        elif failed and failed.answer is None:
            outcome = "not_sent" if failed.before_request else "broken"
        else:
            outcome = "429" if status == 429 else f"{status // 100}xx"
        label = "user" if exchange.request.user_address else _host_label(exchange.request.url)
        self._observe(label, outcome, time.monotonic() - exchange.started)


def connector(policy: AddressPolicy | None, limit: int = 100) -> aiohttp.TCPConnector:
    """A connection pool; with a `policy` every connection passes it. A `limit` of 0 means no limit."""
    policed: dict[str, Any] = {}
    if policy is not None:
        sockets = PolicedSockets(policy)
        policed = {
            "limit_per_host": PER_HOST,
            "resolver": _PolicedResolver(policy),
            "socket_factory": sockets,
        }
    return aiohttp.TCPConnector(
        limit=limit, ttl_dns_cache=NAME_SECONDS, keepalive_timeout=KEPT_SECONDS, **policed
    )


class _PolicedResolver(AbstractResolver):
    """Resolves names to those of their addresses that the policy allows."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._resolver = ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        addresses = await self._resolver.resolve(host, port, family)
        allowed = [address for address in addresses if self._policy.allows(address["host"])]
        if not allowed:
            raise Forbidden(f"{host} has no allowed address")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


# Bodies of requests


class _Stream(AsyncIterablePayload):
    """Streamed content, of known length where `size` is given."""

    def __init__(self, content: AsyncIterator[bytes], size: int | None, **options: Any) -> None:
        super().__init__(content, **options)
        self._size = size


def _body(exchange: _Exchange) -> tuple[Payload | None, str]:
    """The body with its content type."""
    request = exchange.request
    if request.fields is not None or request.files:
        writer = _multipart(exchange)
        return writer, writer.content_type
    if request.json is not None:
        try:
            content = orjson.dumps(request.json)
        except orjson.JSONEncodeError:  # integers over 64 bits, lone surrogates
            content = json.dumps(request.json).encode()
        return _payload(content, "application/json"), "application/json"
    if request.form is not None:
        content_type = "application/x-www-form-urlencoded"
        return _payload(urlencode(request.form).encode(), content_type), content_type
    content_type = "application/octet-stream"
    if request.content is None:
        return None, ""
    if isinstance(request.content, bytes):
        return _payload(request.content, content_type), content_type
    length = next((value for name, value in request.headers.items() if name.lower() == "content-length"), "")
    size = int(length) if length.isdecimal() else None
    stream = _guarded(exchange, request.content, size)
    return _Stream(stream, size, content_type=content_type), content_type


def _multipart(exchange: _Exchange) -> aiohttp.MultipartWriter:
    writer = aiohttp.MultipartWriter("form-data")
    for name, value in (exchange.request.fields or {}).items():
        writer.append_payload(_payload(value.encode(), "text/plain; charset=utf-8", _disposition(name)))
    for file in exchange.request.files:
        headers = _disposition(file.field, file.name)
        if isinstance(file.content, bytes):
            part = _payload(file.content, file.mime_type, headers)
        else:
            content = _guarded(exchange, file.content, file.size)
            part = _Stream(content, file.size, content_type=file.mime_type, headers=headers)
        writer.append_payload(part)
    return writer


def _disposition(field_name: str, filename: str | None = None) -> dict[str, str]:
    value = f'form-data; name="{field_name.translate(_ESCAPES)}"'
    if filename is not None:
        value += f'; filename="{filename.translate(_ESCAPES)}"'
    return {"Content-Disposition": value}


def _payload(content: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> Payload:
    """Large content is written in pieces."""
    if len(content) > PIECE:
        return BytesIOPayload(io.BytesIO(content), content_type=content_type, headers=headers)
    return BytesPayload(content, content_type=content_type, headers=headers)


async def _guarded(
    exchange: _Exchange, content: AsyncIterator[bytes], size: int | None
) -> AsyncIterator[bytes]:
    """The same pieces; fails when they do not add up to the announced size."""
    total = 0
    try:
        async for piece in content:
            total += len(piece)
            if size is not None and total > size:
                raise ValueError(f"the content is longer than the {size} bytes announced")
            yield piece
        if size is not None and total < size:
            raise ValueError(f"the content ended after {total} of {size} bytes")
    except Exception as error:
        exchange.source_error = error
        raise


# Answers


def _without_user(url: URL, headers: Mapping[str, str]) -> URL:
    """The address without user and password where a header has the credentials: aiohttp takes no two of them."""
    has_user = url.user is not None or url.password is not None
    return url.with_user(None) if has_user and "authorization" in map(str.lower, headers) else url


def _next_hop(url: URL, location: str) -> URL:
    try:
        return checked_url(urljoin(str(url), location))
    except (HttpFailed, ValueError):
        raise HttpFailed(
            f"{safe_url(str(url))} redirects to what is no address", before_request=False
        ) from None


def _answer(response: aiohttp.ClientResponse, body: bytes) -> HttpAnswer:
    return HttpAnswer(response.status, {name.lower(): text for name, text in response.headers.items()}, body)


async def _gather(response: aiohttp.ClientResponse, seconds: float) -> None:
    """Leaves what the server sends in this time to the operating system, so that it wakes nobody."""
    transport = response.connection.transport if response.connection else None
    if transport is None:
        return
    transport.pause_reading()
    try:
        await asyncio.sleep(seconds)
    finally:
        transport.resume_reading()


# Failures, in words that hold no secret


def failure(error: Exception, request: HttpRequest, sent: bool) -> HttpFailed:
    """The failure behind an error of aiohttp or the system. `sent`: the first byte may have left."""
    if isinstance(error, Forbidden) or isinstance(getattr(error, "os_error", None), Forbidden):
        return refused(safe_url(request.url).split("//", 1)[-1].split("/", 1)[0])
    if isinstance(error, aiohttp.InvalidURL):
        return NoAddress(f"{safe_url(request.url)} is not an address that can be called")
    return HttpFailed(f"{safe_url(request.url)} {_reason(error, request, sent)}", before_request=not sent)


def _reason(error: Exception, request: HttpRequest, sent: bool) -> str:
    match error:
        case TimeoutError():
            return f"{'does not answer' if sent else 'cannot be connected to'} within {request.timeout:g} s"
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return "cannot be reached: the host name is not found"
        case ssl.SSLCertVerificationError():
            return "cannot be trusted: its TLS certificate is not valid for it"
        case ssl.SSLError():
            return "does not speak TLS as we do"
        case OSError() if not sent or isinstance(error, aiohttp.ClientConnectorError):
            return f"cannot be connected to: {system_reason(error) or 'connection failed'}"
        case aiohttp.ClientResponseError():
            return f"{_NO_HTTP}: {_QUOTED.split(error.message, maxsplit=1)[0]}"
        case aiohttp.ClientPayloadError() if isinstance(error.__cause__, ContentEncodingError):
            return f"{_NO_HTTP}: its body is not packed as its head says"
        case OSError() | aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return "broke the connection before the answer was whole"
    return "cannot be called: the connection failed"


def _too_large(url: str, limit: int) -> HttpFailed:
    return AnswerTooLarge(f"{safe_url(url)} answers with over {limit} bytes")


@lru_cache(256)
def _host_label(url: str) -> str:
    try:
        return URL(url).host or "invalid"
    except ValueError:
        return "invalid"
