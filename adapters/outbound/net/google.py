"""Requests to Google's APIs with the refresh token of an instance, and the classification of their errors.

Sources: https://developers.google.com/identity/protocols/oauth2/web-server#offline,
https://developers.google.com/workspace/drive/api/guides/handle-errors (the same form for all APIs).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.outcomes import by_status, failed, without_token
from adapters.outbound.net.oauth import TokenRefused, Tokens, TokenUnavailable
from domain.channels.messages import Outcome, Sent
from domain.channels.model import PlatformAddress
from domain.rendering import off_loop
from ports.capabilities import PlatformError, PollFailed
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpFailed, HttpRequest

TOKEN_URL = PlatformAddress("GOOGLE_TOKEN_URL", "https://oauth2.googleapis.com/token")
DEFAULT_WAIT = 60.0
"""Seconds to wait after a rate limit that names none."""
TIMEOUT = 60.0
MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer: a mail of 36 MB in base64."""

_UNAUTHORIZED = 401
_RATE_REASONS = frozenset({
    "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded",
    "sharingRateLimitExceeded", "RATE_LIMIT_EXCEEDED",
})  # fmt: skip


class Credentials(Protocol):
    """The fields of a config that grant access; `redirect_uri` is sent where it is not empty."""

    @property
    def client_id(self) -> str: ...
    @property
    def client_secret(self) -> str: ...
    @property
    def refresh_token(self) -> str: ...
    @property
    def redirect_uri(self) -> str: ...


class GoogleError(Exception):
    """A request that failed. `sent` is the outcome of a message that was to be sent with it; `answer` is None where
    there was none; `fatal`: the credentials are not taken."""

    def __init__(
        self, message: str, sent: Sent, answer: HttpAnswer | None = None, *, fatal: bool = False
    ) -> None:
        super().__init__(message)
        self.sent = replace(sent, detail=message)
        self.answer = answer
        self.fatal = fatal

    @property
    def status(self) -> int:
        return self.answer.status if self.answer else 0


@contextmanager
def poll_failures() -> Iterator[None]:
    """Raises `PollFailed` for `GoogleError`."""
    try:
        yield
    except GoogleError as error:
        wait = error.answer.retry_after if error.answer else None
        wait = error.sent.retry_after if wait is None else wait
        raise PollFailed(str(error), fatal=error.fatal, retry_after=wait) from error


@contextmanager
def platform_errors(context: str = "") -> Iterator[None]:
    """Raises `PlatformError` for `GoogleError`, `context` before its message."""
    try:
        yield
    except GoogleError as error:
        away = error.sent.outcome is not Outcome.PERMANENT
        raise PlatformError(f"{context}{error}", transient=away, answered=error.answer is not None) from error


@dataclass(frozen=True, slots=True)
class GoogleApi:
    """One API of Google. `product` begins its error messages, `base` gives its address. All requests raise
    `GoogleError`."""

    product: str
    dependencies: ChannelDependencies
    base: Callable[[], str]
    tokens: Tokens

    @classmethod
    def build(cls, product: str, dependencies: ChannelDependencies, address: PlatformAddress) -> GoogleApi:
        tokens = Tokens(dependencies.http, dependencies.clock)
        return cls(product, dependencies, lambda: dependencies.address(address).rstrip("/"), tokens)

    async def get(
        self, config: Credentials, path: str, query: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        request = HttpRequest("GET", self.url(path, query), timeout=TIMEOUT, max_bytes=MAX_ANSWER)
        return await self.send(config, request)

    async def post(
        self,
        config: Credentials,
        path: str,
        body: Mapping[str, Any],
        query: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        return await self.send(config, HttpRequest("POST", self.url(path, query), json=body, timeout=TIMEOUT))

    async def send(self, config: Credentials, request: HttpRequest) -> dict[str, Any]:
        """The JSON object of a good answer, empty for 204. An access token that is refused is replaced once."""
        try:
            answer = await self.dependencies.http.send(await self._with_token(config, request))
            if answer.status == _UNAUTHORIZED:
                self.tokens.forget(self._token_url(), _grant(config))
                answer = await self.dependencies.http.send(await self._with_token(config, request))
        except HttpFailed as error:
            raise GoogleError(f"{self.product} cannot be reached: {error}", failed(error)) from error
        body = {} if answer.status == 204 else await off_loop(len(answer.body), answer.json)
        if not answer.ok or not isinstance(body, dict):
            message = f"{self.product} answered {answer.status} {text(answer.json(), 'error', 'message')}"
            wait = answer.retry_after or DEFAULT_WAIT
            limited = Sent(Outcome.RETRY_AFTER, retry_after=wait) if is_rate_limit(answer) else None
            raise GoogleError(message.strip()[:300], limited or by_status(answer), answer)
        return body

    async def stream(
        self, config: Credentials, path: str, query: Mapping[str, str], max_bytes: int
    ) -> AsyncIterator[bytes]:
        """The body of an answer piece by piece. Raises `HttpFailed` too."""
        request = HttpRequest("GET", self.url(path, query), timeout=5 * TIMEOUT, max_bytes=max_bytes)
        async for piece in self.dependencies.http.stream(await self._with_token(config, request)):
            yield piece

    def url(self, path: str, query: Mapping[str, str] | None = None) -> str:
        return f"{self.base()}{path}" + (f"?{urlencode(query)}" if query else "")

    def lacks(self, config: Credentials, scopes: Collection[str]) -> bool:
        """Return True if the present access token was granted none of these scopes, as far as Google said."""
        granted = self.tokens.scopes(self._token_url(), _grant(config))
        return bool(granted) and granted.isdisjoint(scopes)

    async def _with_token(self, config: Credentials, request: HttpRequest) -> HttpRequest:
        try:
            token = await self.tokens.get(self._token_url(), _grant(config))
        except TokenRefused as error:
            message = f"Google no longer takes the credentials: {error}"
            raise GoogleError(message, without_token(error), fatal=True) from error
        except TokenUnavailable as error:
            raise GoogleError(str(error), without_token(error)) from error
        return replace(request, headers={**request.headers, "authorization": f"Bearer {token}"})

    def _token_url(self) -> str:
        url = self.dependencies.address(TOKEN_URL)
        return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/token"


def is_rate_limit(answer: HttpAnswer) -> bool:
    """Return True if Google limits the rate: 429, or 403 with a reason of that kind, in the older or newer form."""
    if answer.status == 429:
        return True
    body = answer.json()
    reasons = {
        text(entry, "reason") for name in ("errors", "details") for entry in items(body, "error", name)
    }
    exhausted = text(body, "error", "status") == "RESOURCE_EXHAUSTED"
    return answer.status == 403 and (exhausted or bool(reasons & _RATE_REASONS))


def _grant(config: Credentials) -> dict[str, str]:
    grant = {
        "grant_type": "refresh_token",
        "client_id": config.client_id,
        "client_secret": config.client_secret,
        "refresh_token": config.refresh_token,
    }
    return {**grant, "redirect_uri": config.redirect_uri} if config.redirect_uri else grant
