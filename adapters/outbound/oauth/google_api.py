"""Requests to Google's APIs with an instance's credentials, and what their errors mean.

Source: https://developers.google.com/workspace/drive/api/guides/handle-errors (the same form for all of them).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.oauth.google import GoogleTokens
from domain.channels.messages import Config
from ports.http import Http, HttpAnswer, HttpRequest

_REFUSED = 401
_RATE_REASONS = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "dailyLimitExceeded",
        "quotaExceeded",
        "sharingRateLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
    }
)


class GoogleApi:
    """Sends with an access token; a token that is refused is replaced once."""

    def __init__(self, http: Http, tokens: GoogleTokens) -> None:
        self._http = http
        self._tokens = tokens

    async def send(self, config: Config, request: HttpRequest) -> HttpAnswer:
        """Raises `HttpFailed`, `TokenRefused`, `TokenUnavailable`."""
        answer = await self._http.send(await self._with_token(config, request))
        if answer.status != _REFUSED:
            return answer
        self._tokens.forget(config)
        return await self._http.send(await self._with_token(config, request))

    async def stream(self, config: Config, request: HttpRequest) -> AsyncIterator[bytes]:
        """The body of an answer piece by piece. Raises as `send`; `HttpFailed` for any status but 2xx."""
        async for piece in self._http.stream(await self._with_token(config, request)):
            yield piece

    async def _with_token(self, config: Config, request: HttpRequest) -> HttpRequest:
        bearer = await self._tokens.bearer(config)
        return replace(request, headers={**request.headers, "authorization": bearer})


def is_rate_limit(answer: HttpAnswer) -> bool:
    """Whether Google asks for patience: 429, or 403 with a reason of that kind, in the older or newer form."""
    if answer.status == 429:
        return True
    body = answer.json()
    reasons = {text(each, "reason") for name in ("errors", "details") for each in items(body, "error", name)}
    exhausted = text(body, "error", "status") == "RESOURCE_EXHAUSTED"
    return answer.status == 403 and (exhausted or bool(reasons & _RATE_REASONS))


def words_of(answer: HttpAnswer, who: str) -> str:
    """What `who` said of a failure, in its own words."""
    return f"{who} answered {answer.status} {text(answer.json(), 'error', 'message')}".strip()[:300]
