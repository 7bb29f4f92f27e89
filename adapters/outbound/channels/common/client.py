"""Reads from a platform's HTTP API. Errors begin with the platform's name and hold no secret."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ports.capabilities import PlatformError
from ports.http import AddressRefused, Http, HttpAnswer, HttpFailed, HttpRequest, NoAddress

DOWNLOAD_TIMEOUT = 120.0
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class PlatformClient:
    """Reads from one platform.

    `reason` reads the platform's own error message, empty without one. `succeeded` returns True for an answer with a
    result: by default status 2xx and a JSON object. `wait` reads after how many seconds to try again.
    """

    http: Http
    platform: str
    reason: Callable[[HttpAnswer], str]
    succeeded: Callable[[HttpAnswer], bool] = lambda answer: answer.ok and isinstance(answer.json(), dict)
    wait: Callable[[HttpAnswer], float | None] = lambda answer: answer.retry_after

    async def read(self, request: HttpRequest, secrets: Sequence[str] = ()) -> dict[str, Any]:
        """The JSON object that answers a request. Raises `PlatformError`, with `secrets` masked."""
        body: dict[str, Any] = (await self.answer(request, secrets)).json()
        return body

    async def find(self, request: HttpRequest, secrets: Sequence[str] = ()) -> dict[str, Any] | None:
        """As `read`; None if the platform answers 404."""
        client = replace(self, succeeded=lambda answer: answer.status == 404 or self.succeeded(answer))
        answer = await client.answer(request, secrets)
        return None if answer.status == 404 else answer.json()

    async def answer(self, request: HttpRequest, secrets: Sequence[str] = ()) -> HttpAnswer:
        """The answer to a request that succeeded. Raises as `read`."""
        try:
            answer = await self.http.send(request)
        except HttpFailed as error:
            failed = self._error(str(error), secrets)
            failed.transient = not isinstance(error, AddressRefused | NoAddress)
            raise failed from None
        if not self.succeeded(answer):
            refused = self._error(self.reason(answer) or f"HTTP {answer.status}", secrets)
            refused.retry_after = self.wait(answer)
            refused.transient = answer.status == 429 or answer.status >= 500
            refused.answered = True
            raise refused
        return answer

    async def download(self, request: HttpRequest, secrets: Sequence[str] = ()) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises as `read`."""
        try:
            async for piece in self.http.stream(request):
                yield piece
        except HttpFailed as error:
            raise self._error(str(error), secrets) from None

    def _error(self, message: str, secrets: Sequence[str]) -> PlatformError:
        return PlatformError(masked(f"{self.platform}: {message}", secrets))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def masked(message: str, secrets: Sequence[str]) -> str:
    """The message with each secret replaced by ***."""
    for secret in filter(None, secrets):
        message = message.replace(secret, "***")
    return message


def is_address_of(url: str, base: str, domains: Sequence[str] = ()) -> bool:
    """Return True if a platform's credentials may be sent to an address.

    They may at the origin of `base`, and over https for each of `domains` and their subdomains.
    """
    target = origin(url)
    if target is None:
        return False
    scheme, host, _ = target
    in_domain = any(host == domain or host.endswith(f".{domain}") for domain in domains)
    return target == origin(base) or (scheme == "https" and in_domain)


def origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of an http or https address; None for any other, and for one with a user name."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.username is not None or not parts.hostname or parts.scheme not in _DEFAULT_PORTS:
        return None
    return parts.scheme, parts.hostname, port
