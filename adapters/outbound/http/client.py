"""`ports.http.Http` on aiohttp: one shared client for every call that leaves the service."""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from functools import lru_cache, partial
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from adapters.outbound.http.addresses import policed_connector, refused
from adapters.outbound.http.bodies import body_of
from adapters.outbound.http.checks import checked_headers, checked_url, for_hop
from adapters.outbound.http.direct import (
    GATHER_SHARE,
    SMALL_PIECE,
    USER_AGENT,
    DirectHttp,
    is_direct,
    target_of,
)
from adapters.outbound.http.exchange import Exchange
from adapters.outbound.http.failures import failure, outcome_of, too_large, unwanted
from adapters.outbound.http.policy import AddressPolicy, numeric_host
from adapters.outbound.http.redaction import safe_url
from adapters.outbound.http.wire import PIECE, Unreadable
from ports.http import HttpAnswer, HttpFailed, HttpRequest

Observe = Callable[[str, str, float], None]
"""Told of each exchange: a label ('user' for addresses that users gave, else the host), how it ended, and
the seconds it took."""

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BREAKS = (aiohttp.ClientError, OSError, TimeoutError, UnicodeError, Unreadable)


_current: ContextVar[Exchange] = ContextVar("exchange")


class _Request(aiohttp.ClientRequest):
    """Marks its exchange once there is a connection to write to. A trace would tell the same at five times
    the cost."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        _current.get().sent = True
        return await super().send(conn)


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
        self._refuses = lru_cache(1024)(self._refused_literal)
        self._observe = observe
        self._connect_timeout = connect_timeout
        self._max_connections = max_connections
        self._tls: ssl.SSLContext | bool = tls if tls is not None else True
        self._new_direct = partial(DirectHttp, policy, tls, connect_timeout, max_connections)
        self._opened: DirectHttp | None = None
        self._sessions: dict[tuple[bool, bool], aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """Closes all connections, each at the end of its exchange; a later request opens new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Sends and reads the answer whole, within `timeout`. Raises `HttpFailed`."""
        exchange = Exchange.of(request)
        try:
            answer = await (self._direct.send(exchange) if self._is_direct(request) else self._send(exchange))
        except HttpFailed as failed:
            self._note(exchange, outcome_of(failed))
            raise
        except _BREAKS as error:
            raise self._failed(exchange, error) from error
        self._note(exchange, outcome_of(answer.status))
        return answer

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

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer in pieces of at most 64 KiB. Raises `HttpFailed`.

        `timeout` covers the whole stream; the time the reader takes between pieces counts.
        """
        exchange = Exchange.of(request)
        try:
            pieces = self._direct.stream(exchange) if self._is_direct(request) else self._stream(exchange)
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        except HttpFailed as failed:
            self._note(exchange, outcome_of(failed))
            raise
        except _BREAKS as error:
            raise self._failed(exchange, error) from error
        self._note(exchange, "2xx")

    @property
    def _direct(self) -> DirectHttp:
        if self._opened is None:
            self._opened = self._new_direct()
        return self._opened

    def _is_direct(self, request: HttpRequest) -> bool:
        """Whether no client library is needed. Raises `AddressRefused`, `NoAddress`."""
        if not is_direct(request):
            return False
        host = target_of(request.url).origin.host
        if request.user_address and self._refuses(host):
            raise refused(host)
        return True

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

    def _failed(self, exchange: Exchange, error: Exception) -> HttpFailed:
        """What went wrong, in our words; told to the observer."""
        failed = failure(error, exchange.request, exchange.sent, exchange.source.error)
        self._note(exchange, outcome_of(failed))
        return failed

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

    def _refused_literal(self, host: str) -> bool:
        """Whether the host is an address in itself that the policy forbids; names are seen to when resolved."""
        literal = numeric_host(host) or (host if ":" in host else None)
        return literal is not None and not self._policy.allows(literal)

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

    def _note(self, exchange: Exchange, outcome: str) -> None:
        if self._observe is None:
            return
        label = "user" if exchange.request.user_address else _host_label(exchange.request.url)
        self._observe(label, outcome, time.perf_counter() - exchange.started)


@lru_cache(256)
def _host_label(url: str) -> str:
    try:
        return URL(url).host or "invalid"
    except ValueError:
        return "invalid"


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
