"""The one door to HTTP servers outside: every adapter that calls a platform goes through it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class FormFile:
    """One file of a multipart form."""

    field: str
    name: str
    mime_type: str
    content: bytes | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An outbound request. Give at most one of `json`, `form`, `content`, or `fields` with `files`.

    `user_address`: the address was given by a user, so the outbound address policy applies to it; the
    platforms' own base addresses come from the operator's settings and are exempt.
    `timeout` is in seconds, for the whole exchange. Redirects are followed only for GET, and each hop is
    checked anew.
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
    follow_redirects: bool = False
    max_bytes: int = 10_000_000


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer, read whole. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON, or None when it is not JSON."""
        from json import loads

        try:
            return loads(self.body)
        except ValueError:
            return None

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def retry_after(self) -> float | None:
        """Seconds of a numeric Retry-After header, None without one."""
        try:
            return max(0.0, float(self.headers["retry-after"]))
        except (KeyError, ValueError):
            return None


class HttpFailed(Exception):
    """The exchange did not come to an answer.

    `before_request`: the request surely never reached the server (name not found, connection refused), so
    sending it again cannot double anything.
    """

    def __init__(self, message: str, *, before_request: bool) -> None:
        super().__init__(message)
        self.before_request = before_request


class AddressRefused(HttpFailed):
    """The outbound address policy forbids the address."""

    def __init__(self, message: str) -> None:
        super().__init__(message, before_request=True)


class Http(Protocol):
    """Sends requests; raises `HttpFailed` (never a client library's own error)."""

    async def send(self, request: HttpRequest) -> HttpAnswer: ...

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of a 2xx answer piece by piece; raises `HttpFailed` for any other status."""
        ...
