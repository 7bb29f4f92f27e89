"""Access tokens of OAuth 2.0 token endpoints (RFC 6749, section 5), kept until shortly before they end."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.outbound.channels.common.bodies import at, text
from ports.clock import Clock
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

EARLY = timedelta(seconds=60)
"""A token counts as ended this long before it does, so that none ends on its way."""

_DEFAULT_LIFE = 300.0
_KEPT = 4096
_PASSING = frozenset({"temporarily_unavailable", "server_error", "slow_down"})


class TokenRefused(Exception):
    """The endpoint does not take the credentials: useless to try again until they change."""


class TokenUnavailable(Exception):
    """There is no token at the moment; `retry_after` is in seconds, None where nobody said."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(slots=True)
class _Kept:
    """A token and the lock under which it is renewed, so that many callers cause one request."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: str = ""
    scopes: frozenset[str] = frozenset()
    ends_at: datetime | None = None


class Tokens:
    """Access tokens by the grant that gets them: the endpoint's address and the form posted to it."""

    def __init__(self, http: Http, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def get(self, url: str, grant: Mapping[str, str]) -> str:
        """The access token. Raises `TokenRefused`, `TokenUnavailable`."""
        kept = self._of(url, grant)
        async with kept.lock:
            if kept.ends_at is None or self._clock.now() >= kept.ends_at:
                kept.value, life, kept.scopes = await self._fetch(url, grant)
                kept.ends_at = self._clock.now() + timedelta(seconds=life) - EARLY
            return kept.value

    def scopes(self, url: str, grant: Mapping[str, str]) -> frozenset[str]:
        """What the present token was granted; empty where there is none, or the endpoint does not say."""
        return self._of(url, grant).scopes

    def forget(self, url: str, grant: Mapping[str, str]) -> None:
        """Drops a token that was refused, so that the next `get` fetches a new one."""
        self._kept.pop(_key(url, grant), None)

    def _of(self, url: str, grant: Mapping[str, str]) -> _Kept:
        key = _key(url, grant)
        kept = self._kept.setdefault(key, _Kept())
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return kept

    async def _fetch(self, url: str, grant: Mapping[str, str]) -> tuple[str, float, frozenset[str]]:
        try:
            answer = await self._http.send(HttpRequest("POST", url, form=grant))
        except HttpFailed as error:
            raise TokenUnavailable(f"The token endpoint cannot be reached: {error}") from error
        body = answer.json()
        token = text(body, "access_token")
        if answer.ok and token:
            return token, _life(at(body, "expires_in")), frozenset(text(body, "scope").split())
        raise _problem(answer, body)


def _key(url: str, grant: Mapping[str, str]) -> str:
    """Names a grant without keeping its secrets in memory a second time."""
    return hashlib.sha256(json.dumps([url, sorted(grant.items())]).encode()).hexdigest()


def _life(given: object) -> float:
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _DEFAULT_LIFE
    return min(max(seconds, 0.0), 86_400.0) if seconds == seconds else _DEFAULT_LIFE


def _problem(answer: HttpAnswer, body: object) -> Exception:
    error = text(body, "error")
    words = f"{error} {text(body, 'error_description')}".strip() or f"HTTP {answer.status}"
    passing = answer.ok or answer.status == 429 or answer.status >= 500 or error in _PASSING
    if passing:
        return TokenUnavailable(f"The token endpoint answered {words[:300]}", answer.retry_after)
    return TokenRefused(f"The token endpoint answered {words[:300]}")
