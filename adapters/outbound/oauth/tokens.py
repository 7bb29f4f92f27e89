"""Access tokens of OAuth 2.0 token endpoints (RFC 6749, section 5), cached until shortly before they expire."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.outbound.channels.common.bodies import at, text
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.system import Clock

EARLY = timedelta(seconds=60)
"""A token counts as expired this long before it is, so that none expires on its way."""

_DEFAULT_LIFETIME = 300.0
_MAX_TOKENS = 4096
_TRANSIENT = frozenset({"temporarily_unavailable", "server_error", "slow_down"})


class TokenRefused(Exception):
    """The endpoint refuses the credentials: trying again is useless until they change."""


class TokenUnavailable(Exception):
    """No token can be had at the moment; `retry_after` is in seconds, None where the endpoint gives none."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(slots=True)
class _CachedToken:
    """A token, and the lock under which it is renewed, so that many callers cause one request."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: str = ""
    scopes: frozenset[str] = frozenset()
    expires_at: datetime | None = None


class Tokens:
    """Access tokens by the grant that gets them: the endpoint's address and the form posted to it."""

    def __init__(self, http: Http, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._cache: OrderedDict[str, _CachedToken] = OrderedDict()

    async def get(self, url: str, grant: Mapping[str, str]) -> str:
        """The access token. Raises `TokenRefused`, `TokenUnavailable`."""
        token = self._token(url, grant)
        async with token.lock:
            if token.expires_at is None or self._clock.now() >= token.expires_at:
                token.value, lifetime, token.scopes = await self._fetch(url, grant)
                token.expires_at = self._clock.now() + timedelta(seconds=lifetime) - EARLY
            return token.value

    def scopes(self, url: str, grant: Mapping[str, str]) -> frozenset[str]:
        """The scopes of the present token; empty where there is none, or the endpoint names none."""
        return self._token(url, grant).scopes

    def forget(self, url: str, grant: Mapping[str, str]) -> None:
        """Drops a token that was refused, so that the next `get` fetches a new one."""
        self._cache.pop(_key(url, grant), None)

    def _token(self, url: str, grant: Mapping[str, str]) -> _CachedToken:
        key = _key(url, grant)
        token = self._cache.setdefault(key, _CachedToken())
        self._cache.move_to_end(key)
        while len(self._cache) > _MAX_TOKENS:
            self._cache.popitem(last=False)
        return token

    async def _fetch(self, url: str, grant: Mapping[str, str]) -> tuple[str, float, frozenset[str]]:
        try:
            answer = await self._http.send(HttpRequest("POST", url, form=grant))
        except HttpFailed as error:
            raise TokenUnavailable(f"The token endpoint cannot be reached: {error}") from error
        body = answer.json()
        token = text(body, "access_token")
        if answer.ok and token:
            return token, _lifetime(at(body, "expires_in")), frozenset(text(body, "scope").split())
        raise _failure(answer, body)


def _key(url: str, grant: Mapping[str, str]) -> str:
    """Identifies a grant without holding its secrets in memory a second time."""
    return hashlib.sha256(json.dumps([url, sorted(grant.items())]).encode()).hexdigest()


def _lifetime(given: object) -> float:
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _DEFAULT_LIFETIME
    return min(max(seconds, 0.0), 86_400.0) if seconds == seconds else _DEFAULT_LIFETIME


def _failure(answer: HttpAnswer, body: object) -> Exception:
    error = text(body, "error")
    reason = f"{error} {text(body, 'error_description')}".strip() or f"HTTP {answer.status}"
    message = f"The token endpoint answered {reason[:300]}"
    is_transient = answer.ok or answer.status == 429 or answer.status >= 500 or error in _TRANSIENT
    return TokenUnavailable(message, answer.retry_after) if is_transient else TokenRefused(message)
