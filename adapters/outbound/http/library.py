"""Exchanges of the kinds that `direct` does not do: uploads, redirects, long polls. They need the client library."""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from adapters.outbound.http.addresses import refused
from adapters.outbound.http.checks import checked_headers, checked_url, for_hop
from adapters.outbound.http.direct import GATHER_SHARE, SMALL_PIECE, USER_AGENT
from adapters.outbound.http.exchange import Exchange
from adapters.outbound.http.failures import too_large, unwanted
from adapters.outbound.http.payloads import body_of
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.http.pools import failure_of, policed_connector
from adapters.outbound.http.redaction import safe_url
from adapters.outbound.http.wire import PIECE
from ports.http import HttpAnswer, HttpFailed

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_current: ContextVar[Exchange] = ContextVar("exchange")


class _Request(aiohttp.ClientRequest):
    """Marks its exchange once there is a connection to write to. A trace would tell the same at five times
    the cost."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        _current.get().sent = True
        return await super().send(conn)


class LibraryHttp:
    """Connection pools as `AioHttp` describes them. `refuses`: whether a host is a forbidden address."""

    def __init__(
        self,
        policy: AddressPolicy,
        refuses: Callable[[str], bool],
        tls: ssl.SSLContext | None,
        connect_timeout: float,
        max_connections: int,
    ) -> None:
        self._policy = policy
        self._refuses = refuses
        self._connect_timeout = connect_timeout
        self._max_connections = max_connections
        self._tls: ssl.SSLContext | bool = tls if tls is not None else True
        self._sessions: dict[tuple[bool, bool], aiohttp.ClientSession] = {}

    async def close(self) -> None:
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def send(self, exchange: Exchange) -> HttpAnswer:
        with _in_words(exchange):
            return await self._send(exchange)

    async def stream(self, exchange: Exchange) -> AsyncGenerator[bytes, None]:
        with _in_words(exchange):
            async with aclosing(self._stream(exchange)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _send(self, exchange: Exchange) -> HttpAnswer:
        async with asyncio.timeout_at(exchange.deadline):
            response = await self._open(exchange)
            try:
                answer = _answer(response, await _read(response, exchange.request.max_bytes))
            except BaseException:
                response.close()
                raise
            response.release()
        return answer

    async def _stream(self, exchange: Exchange) -> AsyncGenerator[bytes, None]:
        request = exchange.request
        async with asyncio.timeout_at(exchange.deadline):
            response = await self._open(exchange)
        try:
            if not 200 <= response.status < 300:
                async with asyncio.timeout_at(exchange.deadline):
                    raise unwanted(request.url, _answer(response, await response.content.read(PIECE)))
            if request.on_head:
                request.on_head(_answer(response, b""))
            async for piece in _pieces(response, exchange):
                yield piece
        finally:
            response.close()

    async def _open(self, exchange: Exchange) -> aiohttp.ClientResponse:
        _current.set(exchange)
        request = exchange.request
        method = request.method.upper()
        url, headers = checked_url(request.url), checked_headers(request.headers)
        body = body_of(request, exchange.source)
        for _ in range(MAX_REDIRECTS + 1):
            if request.user_address and self._refuses(url.host or ""):
                raise refused(url.host or "")
            response = await self._session(request.user_address, request.long_poll).request(
                method,
                url,
                headers=headers,
                data=body,
                allow_redirects=False,
                ssl=self._tls,
            )
            location = response.headers.get("Location")
            follow = request.follow_redirects and method == "GET" and response.status in _REDIRECTS
            if not follow or location is None:
                return response
            response.release()
            target = _next_hop(url, location)
            url, headers = target, for_hop(headers, url, target)
        raise HttpFailed(
            f"{safe_url(request.url)} redirects more than {MAX_REDIRECTS} times", before_request=False
        )

    def _session(self, policed: bool, long_poll: bool) -> aiohttp.ClientSession:
        session = self._sessions.get((policed, long_poll))
        if session is None:
            limit = 0 if long_poll else self._max_connections
            session = self._sessions[policed, long_poll] = self._new_session(policed, limit)
        return session

    def _new_session(self, policed: bool, limit: int) -> aiohttp.ClientSession:
        """`limit` 0 is none."""
        if policed:
            connector = policed_connector(self._policy, limit)
        else:
            connector = aiohttp.TCPConnector(limit=limit, ttl_dns_cache=30)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": USER_AGENT},
            request_class=_Request,
            trust_env=False,
        )


@contextmanager
def _in_words(exchange: Exchange) -> Iterator[None]:
    try:
        yield
    except aiohttp.ClientError as error:
        raise failure_of(error, exchange.request, exchange.sent, exchange.source.error) from error


def _next_hop(url: URL, location: str) -> URL:
    try:
        return checked_url(urljoin(str(url), location))
    except (HttpFailed, ValueError):
        raise HttpFailed(
            f"{safe_url(str(url))} redirects to what is no address", before_request=False
        ) from None


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    if (response.content_length or 0) > limit:
        raise too_large(str(response.url), limit)
    pieces, total = [], 0
    while piece := await response.content.read(PIECE):
        total += len(piece)
        if total > limit:
            raise too_large(str(response.url), limit)
        pieces.append(piece)
    return b"".join(pieces)


async def _pieces(response: aiohttp.ClientResponse, exchange: Exchange) -> AsyncIterator[bytes]:
    total, limit, began = 0, exchange.request.max_bytes, time.monotonic()
    while True:
        async with asyncio.timeout_at(exchange.deadline):
            piece = await response.content.read(PIECE)
        if not piece:
            return
        total += len(piece)
        if total > limit:
            raise too_large(str(response.url), limit)
        yield piece
        if exchange.request.gather_seconds and len(piece) < SMALL_PIECE:
            share = GATHER_SHARE * (time.monotonic() - began)
            await _gather(response, min(exchange.request.gather_seconds, share))


async def _gather(response: aiohttp.ClientResponse, seconds: float) -> None:
    """Leaves what comes meanwhile to the operating system: it wakes nobody."""
    transport = response.connection.transport if response.connection else None
    if transport is None:
        return
    transport.pause_reading()
    try:
        await asyncio.sleep(seconds)
    finally:
        transport.resume_reading()


def _answer(response: aiohttp.ClientResponse, body: bytes) -> HttpAnswer:
    return HttpAnswer(response.status, {name.lower(): text for name, text in response.headers.items()}, body)
