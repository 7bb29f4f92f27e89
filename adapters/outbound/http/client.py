"""`ports.http.Http`: one shared client for every call that leaves the service."""

import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import lru_cache

from yarl import URL

from adapters.outbound.http import library
from adapters.outbound.http.addresses import refused
from adapters.outbound.http.direct import DirectHttp, is_direct, target_of
from adapters.outbound.http.exchange import Exchange
from adapters.outbound.http.failures import failure, outcome_of
from adapters.outbound.http.policy import AddressPolicy, numeric_host
from adapters.outbound.http.wire import Unreadable
from ports.http import HttpAnswer, HttpFailed, HttpRequest

Observe = Callable[[str, str, float], None]
"""Told of each exchange: a label ('user' for addresses that users gave, else the host), how it ended, and
the seconds it took."""

_BREAKS = (OSError, TimeoutError, UnicodeError, Unreadable)


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
        self._options = tls, connect_timeout, max_connections
        self._opened: DirectHttp | None = None
        self._library_opened: library.LibraryHttp | None = None

    async def close(self) -> None:
        """Closes all connections, each at the end of its exchange; a later request opens new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        if self._library_opened is not None:
            opened, self._library_opened = self._library_opened, None
            await opened.close()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Sends and reads the answer whole, within `timeout`. Raises `HttpFailed`."""
        exchange = Exchange.of(request)
        try:
            answer = await self._way_of(request).send(exchange)
        except HttpFailed as failed:
            self._note(exchange, outcome_of(failed))
            raise
        except _BREAKS as error:
            raise self._failed(exchange, error) from error
        self._note(exchange, outcome_of(answer.status))
        return answer

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer in pieces of at most 64 KiB. Raises `HttpFailed`.

        `timeout` covers the whole stream; the time the reader takes between pieces counts.
        """
        exchange = Exchange.of(request)
        try:
            async with aclosing(self._way_of(request).stream(exchange)) as pieces:
                async for piece in pieces:
                    yield piece
        except HttpFailed as failed:
            self._note(exchange, outcome_of(failed))
            raise
        except _BREAKS as error:
            raise self._failed(exchange, error) from error
        self._note(exchange, "2xx")

    def _way_of(self, request: HttpRequest) -> "DirectHttp | library.LibraryHttp":
        """Without the client library where it is not needed. Raises `AddressRefused`, `NoAddress`."""
        if not is_direct(request):
            return self._library
        host = target_of(request.url).origin.host
        if request.user_address and self._refuses(host):
            raise refused(host)
        return self._direct

    @property
    def _direct(self) -> DirectHttp:
        if self._opened is None:
            self._opened = DirectHttp(self._policy, *self._options)
        return self._opened

    @property
    def _library(self) -> "library.LibraryHttp":
        if self._library_opened is None:
            self._library_opened = library.LibraryHttp(self._policy, self._refuses, *self._options)
        return self._library_opened

    def _failed(self, exchange: Exchange, error: Exception) -> HttpFailed:
        """What went wrong, in our words; told to the observer."""
        failed = failure(error, exchange.request, exchange.sent, exchange.source.error)
        self._note(exchange, outcome_of(failed))
        return failed

    def _refused_literal(self, host: str) -> bool:
        """Whether the host is an address in itself that the policy forbids; names are seen to when resolved."""
        literal = numeric_host(host) or (host if ":" in host else None)
        return literal is not None and not self._policy.allows(literal)

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
