"""Access tokens are fetched once, kept while they hold, and refusals are told apart from passing trouble."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.outbound.channels.mail_api.config import GmailConfig
from adapters.outbound.channels.tests.support import SetClock, dependencies
from adapters.outbound.net.google import GoogleApi
from adapters.outbound.net.oauth import TokenRefused, Tokens, TokenUnavailable
from domain.channels.model import PlatformAddress
from ports.http import HttpAnswer, HttpFailed, HttpRequest

URL = "https://login.example/token"
GRANT = {"grant_type": "client_credentials", "client_id": "a", "client_secret": "b"}
CONFIG = GmailConfig(client_id="id", client_secret="secret", refresh_token="refresh", redirect_uri="")


class Endpoint:
    """Gives out token1, token2, ... or what the script says."""

    def __init__(self, *script: HttpAnswer | HttpFailed, life: Any = 3600) -> None:
        self.requests: list[HttpRequest] = []
        self._script = deque(script)
        self._life = life

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.requests.append(request)
        await asyncio.sleep(0)
        if self._script:
            step = self._script.popleft()
            if isinstance(step, HttpFailed):
                raise step
            return step
        return answer(200, access_token=f"token{len(self.requests)}", expires_in=self._life)

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        raise NotImplementedError


def answer(status: int, **body: Any) -> HttpAnswer:
    return HttpAnswer(status, {}, json.dumps(body).encode())


async def test_a_token_is_kept_until_shortly_before_it_ends() -> None:
    endpoint, clock = Endpoint(), SetClock()
    tokens = Tokens(endpoint, clock)
    assert await tokens.get(URL, GRANT) == "token1"
    clock.advance(3539)
    assert await tokens.get(URL, GRANT) == "token1"
    clock.advance(1)
    assert await tokens.get(URL, GRANT) == "token2"


async def test_many_callers_cause_one_request() -> None:
    endpoint = Endpoint()
    tokens = Tokens(endpoint, SetClock())
    found = await asyncio.gather(*(tokens.get(URL, GRANT) for _ in range(20)))
    assert set(found) == {"token1"}
    assert len(endpoint.requests) == 1


async def test_other_credentials_have_their_own_token() -> None:
    tokens = Tokens(Endpoint(), SetClock())
    assert await tokens.get(URL, GRANT) != await tokens.get(URL, {**GRANT, "client_secret": "c"})


async def test_a_refused_token_can_be_forgotten() -> None:
    tokens = Tokens(Endpoint(), SetClock())
    await tokens.get(URL, GRANT)
    tokens.forget(URL, GRANT)
    assert await tokens.get(URL, GRANT) == "token2"


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_wrong_credentials_are_refused_in_the_endpoints_words(status: int) -> None:
    refusal = answer(status, error="invalid_grant", error_description="Token has been expired or revoked.")
    with pytest.raises(TokenRefused, match="invalid_grant Token has been expired") as caught:
        await Tokens(Endpoint(refusal), SetClock()).get(URL, GRANT)
    assert GRANT["client_secret"] not in str(caught.value).split()


@pytest.mark.parametrize(
    "step",
    [
        HttpAnswer(503, {"retry-after": "9"}, b""),
        HttpAnswer(429, {"retry-after": "9"}, b"{}"),
        HttpAnswer(200, {"retry-after": "9"}, b"<html>"),
        HttpAnswer(400, {"retry-after": "9"}, b'{"error": "temporarily_unavailable"}'),
    ],
)
async def test_passing_trouble_can_be_tried_again(step: HttpAnswer) -> None:
    tokens = Tokens(Endpoint(step), SetClock())
    with pytest.raises(TokenUnavailable) as caught:
        await tokens.get(URL, GRANT)
    assert caught.value.retry_after == 9
    assert await tokens.get(URL, GRANT) == "token2"


async def test_a_broken_connection_can_be_tried_again() -> None:
    with pytest.raises(TokenUnavailable, match="reset"):
        await Tokens(Endpoint(HttpFailed("reset", before_request=False)), SetClock()).get(URL, GRANT)


@pytest.mark.parametrize("life", [None, "x", "nan", -5, 1e99, "3600"])
async def test_a_strange_life_is_survived(life: Any) -> None:
    assert await Tokens(Endpoint(life=life), SetClock()).get(URL, GRANT) == "token1"


def google(endpoint: Endpoint, token_url: str = URL) -> GoogleApi:
    addresses = {"GOOGLE_TOKEN_URL": token_url, "MAIL_API_URL": "https://gmail.example"}
    return GoogleApi.build("Gmail", dependencies(endpoint, addresses), PlatformAddress("MAIL_API_URL"))


async def test_google_gets_a_refresh_grant() -> None:
    endpoint = Endpoint()
    api = google(endpoint)
    await api.get(replace(CONFIG, redirect_uri="https://a.example"), "/profile")
    grant, request = endpoint.requests
    assert grant.form == {
        "grant_type": "refresh_token",
        "client_id": "id",
        "client_secret": "secret",
        "refresh_token": "refresh",
        "redirect_uri": "https://a.example",
    }
    assert request.headers["authorization"] == "Bearer token1"
    await api.get(CONFIG, "/profile")
    assert "redirect_uri" not in (endpoint.requests[2].form or {})


async def test_a_bare_token_address_gets_googles_path() -> None:
    endpoint = Endpoint()
    await google(endpoint, "http://127.0.0.1:9").get(CONFIG, "/profile")
    assert endpoint.requests[0].url == "http://127.0.0.1:9/token"
