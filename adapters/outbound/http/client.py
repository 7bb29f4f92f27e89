"""`ports.http.Http` on aiohttp: one shared client for every call that leaves the service."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from adapters.outbound.http.addresses import PolicedResolver, PolicedSockets, refused
from adapters.outbound.http.bodies import Source, body_of
from adapters.outbound.http.checks import checked_headers, checked_url, for_hop
from adapters.outbound.http.failures import failure, outcome_of
from adapters.outbound.http.policy import AddressPolicy, numeric_host
from adapters.outbound.http.redaction import safe_url
from ports.http import HttpAnswer, HttpFailed, HttpRequest

Observe = Callable[[str, str, float], None]
"""Told of each exchange: a label ('user' for addresses that users gave, else the host), how it ended, and
the seconds it took."""

MAX_REDIRECTS = 5
PIECE = 64 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = "Switchboard"


@dataclass(slots=True)
class Exchange:
    """How far an exchange came; `sent` once the first byte may have left."""

    request: HttpRequest
    source: Source
    deadline: float
    started: float
    sent: bool = False


class AioHttp:
    """Sends over two connection pools made on first use in the running loop: one for the operator's own
    addresses, one whose every connection passed the address policy."""

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
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """Closes all connections; a later request opens new ones."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Sends and reads the answer whole, within `timeout`. Raises `HttpFailed`."""
        async with self._exchange(request) as exchange, asyncio.timeout_at(exchange.deadline):
            response = await self._open(exchange)
            try:
                body = await _read(response, request.max_bytes)
            except BaseException:
                response.close()
                raise
            response.release()
            answer = _answer(response, body)
            self._note(exchange, outcome_of(answer.status))
            return answer

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer in pieces of at most 64 KiB. Raises `HttpFailed`.

        `timeout` covers the whole stream; the time the reader takes between pieces counts.
        """
        async with self._exchange(request) as exchange:
            async with asyncio.timeout_at(exchange.deadline):
                response = await self._open(exchange)
            try:
                if not 200 <= response.status < 300:
                    async with asyncio.timeout_at(exchange.deadline):
                        raise await _unwanted(response)
                async for piece in _pieces(response, request.max_bytes, exchange.deadline):
                    yield piece
            finally:
                response.close()
            self._note(exchange, outcome_of(response.status))

    @asynccontextmanager
    async def _exchange(self, request: HttpRequest) -> AsyncIterator[Exchange]:
        loop = asyncio.get_running_loop()
        exchange = Exchange(request, Source(), loop.time() + request.timeout, time.perf_counter())
        try:
            yield exchange
        except HttpFailed as error:
            self._note(exchange, outcome_of(error))
            raise
        except (aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            failed = failure(error, request, exchange.sent, exchange.source.error)
            self._note(exchange, outcome_of(failed))
            raise failed from error

    async def _open(self, exchange: Exchange) -> aiohttp.ClientResponse:
        request = exchange.request
        method = request.method.upper()
        url, headers = checked_url(request.url), checked_headers(request.headers)
        body = body_of(request, exchange.source)
        for _ in range(MAX_REDIRECTS + 1):
            if request.user_address:
                self._check_literal(url)
            response = await self._session(request.user_address).request(
                method,
                url,
                headers=headers,
                data=body,
                allow_redirects=False,
                ssl=self._tls,
                trace_request_ctx=exchange,
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

    def _check_literal(self, url: URL) -> None:
        host = url.host or ""
        literal = numeric_host(host) or (host if ":" in host else None)
        if literal is not None and not self._policy.allows(literal):
            raise refused(host)

    def _session(self, policed: bool) -> aiohttp.ClientSession:
        session = self._sessions.get(policed)
        if session is None:
            session = self._sessions[policed] = self._new_session(policed)
        return session

    def _new_session(self, policed: bool) -> aiohttp.ClientSession:
        guards: dict[str, Any] = {}
        if policed:
            guards = {
                "resolver": PolicedResolver(self._policy),
                "socket_factory": PolicedSockets(self._policy),
                "limit_per_host": 32,
            }
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._max_connections, ttl_dns_cache=30, **guards),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": _USER_AGENT},
            trace_configs=[_tracing()],
            trust_env=False,
        )

    def _note(self, exchange: Exchange, outcome: str) -> None:
        if self._observe is None:
            return
        label = "user" if exchange.request.user_address else _host_label(exchange.request.url)
        self._observe(label, outcome, time.perf_counter() - exchange.started)


def _tracing() -> aiohttp.TraceConfig:
    async def sending(_session: object, context: Any, _params: object) -> None:
        context.trace_request_ctx.sent = True

    config = aiohttp.TraceConfig()
    config.on_request_headers_sent.append(sending)
    return config


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
    return b"".join([piece async for piece in _pieces(response, limit, None)])


async def _pieces(
    response: aiohttp.ClientResponse, limit: int, deadline: float | None
) -> AsyncIterator[bytes]:
    if (response.content_length or 0) > limit:
        raise _too_large(response, limit)
    total = 0
    while True:
        async with asyncio.timeout_at(deadline) if deadline is not None else nullcontext():
            piece = await response.content.read(PIECE)
        if not piece:
            return
        total += len(piece)
        if total > limit:
            raise _too_large(response, limit)
        yield piece


def _too_large(response: aiohttp.ClientResponse, limit: int) -> HttpFailed:
    return HttpFailed(f"{safe_url(str(response.url))} answers with over {limit} bytes", before_request=False)


def _answer(response: aiohttp.ClientResponse, body: bytes) -> HttpAnswer:
    return HttpAnswer(response.status, {name.lower(): text for name, text in response.headers.items()}, body)


async def _unwanted(response: aiohttp.ClientResponse) -> HttpFailed:
    answer = _answer(response, await response.content.read(PIECE))
    return HttpFailed(
        f"{safe_url(str(response.url))} answers with status {response.status}",
        before_request=False,
        answer=answer,
    )
