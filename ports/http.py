"""Outgoing HTTP and WebSockets, and the web pages and hosts that are read by them. Every adapter that calls a
platform uses these ports.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

from domain.json_text import loads
from domain.values import value


@dataclass(frozen=True, slots=True)
class FormFile:
    """One file of a multipart form. `size` in bytes, when the length of streamed content is known: servers
    that take no chunked transfer encoding need it."""

    field: str
    name: str
    mime_type: str
    content: bytes | AsyncIterator[bytes]
    size: int | None = None


@value
class HttpRequest:
    """An outbound request. Give at most one of `json`, `form`, `content`, or `fields` with `files`.

    A streamed `content` is sent chunked unless `headers` has its Content-Length.

    `user_address`: the address was given by a user, so the outbound address policy applies to it; the
    platforms' own base addresses come from the operator's settings and are exempt.
    `long_poll`: the server answers when there is something new, so other requests must not wait for its connection.
    `timeout` is in seconds, for the whole exchange. Redirects are followed only for GET, and each hop is
    checked anew.

    Of `stream`: `on_head` gets status and headers of a 2xx answer before its first piece. What comes within
    `gather_seconds`, and a fifth of the time so far, is one piece where pieces are small.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    form: Mapping[str, str] | None = None
    content: bytes | AsyncIterator[bytes] | None = None
    fields: Mapping[str, str] | None = None
    files: Sequence[FormFile] = ()
    timeout: float = 30.0
    user_address: bool = False
    long_poll: bool = False
    follow_redirects: bool = False
    max_bytes: int = 10_000_000
    gather_seconds: float = 0.0
    on_head: Callable[[HttpAnswer], None] | None = None


@value
class HttpAnswer:
    """The answer, read whole. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON, or None when it is not JSON, or nested too deeply."""
        try:
            return loads(self.body)
        except ValueError:
            return None

    @property
    def ok(self) -> bool:
        """Return True if the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait by the Retry-After header, None without a readable one (RFC 9110, 10.2.3)."""
        value = self.headers.get("retry-after", "")
        try:
            seconds = float(value)
        except ValueError:
            until, now = _http_date(value), _http_date(self.headers.get("date", ""))
            seconds = (until - now).total_seconds() if until and now else float("nan")
        return max(0.0, seconds) if isfinite(seconds) else None


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


class HttpFailed(Exception):
    """The exchange did not come to an answer.

    `before_request`: the request surely never reached the server (name not found, connection refused), so
    sending it again cannot double anything. `answer` is what the server said when `stream` met another
    status than 2xx, its body cut at 64 KiB; None otherwise.
    """

    def __init__(self, message: str, *, before_request: bool, answer: HttpAnswer | None = None) -> None:
        super().__init__(message)
        self.before_request = before_request
        self.answer = answer


class AddressRefused(HttpFailed):
    """The outbound address policy forbids the address."""

    def __init__(self, message: str) -> None:
        super().__init__(message, before_request=True)


class AnswerTooLarge(HttpFailed):
    """The answer has more bytes than the request allows."""

    def __init__(self, message: str) -> None:
        super().__init__(message, before_request=False)


class NoAddress(HttpFailed):
    """What was given is no address of the web, and never will be."""

    def __init__(self, message: str) -> None:
        super().__init__(message, before_request=True)


class Http(Protocol):
    """Sends requests; raises `HttpFailed` (never a client library's own error)."""

    async def send(self, request: HttpRequest) -> HttpAnswer: ...

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer piece by piece; raises `HttpFailed` for any other status."""


@dataclass(frozen=True, slots=True)
class Address:
    """A network address to connect to: `host` is an IP address in its canonical text form."""

    host: str
    port: int


class Addresses(Protocol):
    """Resolves hosts that a user gave, for protocols other than HTTP (IMAP, SMTP)."""

    async def resolve_allowed(self, host: str, port: int) -> Sequence[Address]:
        """The addresses of `host` that may be called; connect to one of these, never to the name again.

        Raises `AddressRefused` when the policy allows none, `HttpFailed` when the name is not found.
        """


class ConnectionClosed(Exception):
    """The connection is closed, or does not answer any more; `code` is the one that the other side gave, else 0."""

    def __init__(self, code: int) -> None:
        super().__init__(f"it was closed with {code}")
        self.code = code


class WebSocket(Protocol):
    """An open connection. Pings of the other side are answered, and it is pinged itself."""

    async def receive(self) -> str | bytes:
        """The next message. Raises `ConnectionClosed`."""

    async def send(self, message: str) -> None:
        """Raises `ConnectionClosed`."""

    async def close(self, code: int = 1000) -> None: ...


@dataclass(frozen=True, slots=True)
class Handshake:
    """How a connection is opened. `user_address`: the address was given by a user, so the outbound address policy
    applies to it. `heartbeat`: seconds between two pings, None for none."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    user_address: bool = False
    heartbeat: float | None = 20.0


class WebSockets(Protocol):
    def open(self, handshake: Handshake) -> AbstractAsyncContextManager[WebSocket]:
        """Opens a connection, which ends with the block. Raises `ports.http.HttpFailed`."""


@dataclass(frozen=True, slots=True)
class FetchedBody:
    """A body that was fetched: where it lies, what it is called in messages, and what the server said of it."""

    path: Path
    name: str
    address: str
    mime_type: str
    charset: str


@dataclass(frozen=True, slots=True)
class SitemapEntries:
    """`is_index`: the addresses are those of other sitemaps. `cut`: there were more than are taken."""

    addresses: Sequence[str]
    is_index: bool
    cut: bool


@dataclass(frozen=True, slots=True)
class WebPage:
    """The main content of a page as an HTML document of its own. `canonical`: the address that it names as its own.
    `refusal`: why it asks not to be taken."""

    title: str
    html: str
    canonical: str
    refusal: str


class WebPageReader(Protocol):
    """Reads what was fetched, in a sandbox."""

    async def read_page(self, body: FetchedBody) -> WebPage | SitemapEntries | None:
        """None: it is neither a page nor a sitemap, but a file. Raises `Unreadable`, `TooLarge`."""


@dataclass(frozen=True, slots=True)
class KnownRobots:
    """A robots.txt; `error`: why the newest one could not be read. `is_due`: it is to be read again."""

    text: str | None
    error: str | None
    is_due: bool


class WebHosts(Protocol):
    """`host` is scheme, name and port."""

    async def acquire(self, host: str, seconds: float) -> float:
        """Takes the host for so long, at most; 0. Where another request has it, or it rests: seconds until then."""

    async def release(self, host: str, rest: float) -> None:
        """Gives the host back, to be asked again after so many seconds."""

    async def robots(self, host: str) -> KnownRobots: ...

    async def keep_robots(self, host: str, text: str | None, error: str | None, seconds: float) -> None:
        """Stores what came of reading robots.txt, good for so long; None: the text that is there stays."""
