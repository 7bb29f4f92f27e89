"""Verification by signing in elsewhere."""

import asyncio
import re

import httpx
import pytest

from adapters.outbound.channels.tests.support import SetClock
from tests.integration.verification.conftest import PLATFORM_URL, key
from tests.support.platforms.sign_in import SignIn

USERS = {
    "workspace-chat": {"ok": True, "sub": "U1", "https://slack.com/user_id": "U0AAA"},
    "gaming-chat": {"id": "80351110224678912", "username": "ann"},
    "community-chat": {"id": "n9sbh6bbs3b47g5d6x5m1xc1gh", "username": "ann"},
    "enterprise-chat": {"id": "87d349ed-44d7-43e1-9a83-5f2406dee5bd", "displayName": "Ann"},
}
EXPECTED = {"workspace-chat": "U0AAA", "gaming-chat": "80351110224678912"}


async def begin(rest: httpx.AsyncClient, provider: str = "gaming-chat", user: str = "ann") -> str:
    answer = await rest.post(f"/start-{provider}", headers=key(user))
    assert answer.status_code == 200
    assert set(answer.json()) == {"success", "authUrl"}
    return str(answer.json()["authUrl"])


async def come_back(
    rest: httpx.AsyncClient, query: dict[str, str], provider: str = "gaming-chat"
) -> httpx.Response:
    return await rest.get(f"/callback/{provider}", params=query)


async def values(rest: httpx.AsyncClient, user: str = "ann") -> list[str]:
    found = (await rest.get("/identities", headers=key(user))).json()["identities"]
    return [each["value"] for each in found]


@pytest.mark.parametrize("provider", list(USERS))
async def test_signing_in_verifies_the_identity(
    rest: httpx.AsyncClient, sign_in: SignIn, provider: str
) -> None:
    url = await begin(rest, provider)
    assert f"redirect_uri={PLATFORM_URL.replace(':', '%3A').replace('/', '%2F')}%2Fapi%2Fagent" in url
    page = await come_back(rest, sign_in.agree(url, **USERS[provider]), provider)
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    found = (await rest.get("/identities", headers=key("ann"))).json()["identities"]
    assert found == [{"field": provider, "value": EXPECTED.get(provider, USERS[provider].get("id"))}]


async def test_discord_is_asked_for_the_identify_scope_with_pkce(rest: httpx.AsyncClient) -> None:
    url = await begin(rest)
    assert "scope=identify" in url
    assert "code_challenge_method=S256" in url


async def test_the_page_tells_its_opener_alone_and_nothing_else_runs(
    rest: httpx.AsyncClient, sign_in: SignIn
) -> None:
    page = await come_back(rest, sign_in.agree(await begin(rest), **USERS["gaming-chat"]))
    policy = page.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)
    assert nonce
    assert page.text.count("<script") == page.text.count(f'<script nonce="{nonce.group(1)}">') == 1
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert f'"{PLATFORM_URL}"' in page.text
    assert '{"type": "verification", "provider": "gaming-chat", "success": true}' in page.text
    assert page.headers["cache-control"] == "no-store"


async def test_a_state_is_good_once(rest: httpx.AsyncClient, sign_in: SignIn) -> None:
    query = sign_in.agree(await begin(rest), **USERS["gaming-chat"])
    answers = await asyncio.gather(*[come_back(rest, query) for _ in range(4)])
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]


async def test_a_state_expires(rest: httpx.AsyncClient, sign_in: SignIn, clock: SetClock) -> None:
    query = sign_in.agree(await begin(rest), **USERS["gaming-chat"])
    clock.advance(600)
    assert (await come_back(rest, query)).status_code == 400
    assert await values(rest) == []


async def test_a_state_is_good_for_its_provider_and_its_user(
    rest: httpx.AsyncClient, sign_in: SignIn
) -> None:
    query = sign_in.agree(await begin(rest, user="bob"), **USERS["gaming-chat"])
    assert (await come_back(rest, query, "community-chat")).status_code == 400
    assert (await come_back(rest, query)).status_code == 200
    assert (await values(rest, "ann"), await values(rest, "bob")) == ([], ["80351110224678912"])


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"state": "x"},
        {"state": "", "code": "c"},
        {"code": "c"},
        {"state": "</script><script>alert(1)"},
        {"state": "x", **{f"more{number}": "1" for number in range(60)}},
    ],
)
async def test_a_made_up_redirect_is_refused(rest: httpx.AsyncClient, query: dict[str, str]) -> None:
    page = await come_back(rest, query)
    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert '"success": false' in page.text
    assert "alert(1)" not in page.text


@pytest.mark.parametrize("provider", ["unknown", "email", "%3Cscript%3Ealert(1)"])
async def test_an_unknown_provider_is_refused_on_a_page(rest: httpx.AsyncClient, provider: str) -> None:
    page = await rest.get(f"/callback/{provider}?state=a&code=b")
    assert page.status_code == 400
    assert "text/html" in page.headers["content-type"]
    assert "<script>alert" not in page.text


async def test_a_user_who_declines_uses_the_state_up(rest: httpx.AsyncClient, sign_in: SignIn) -> None:
    query = sign_in.agree(await begin(rest), **USERS["gaming-chat"])
    declined = await come_back(rest, {"state": query["state"], "error": "access_denied"})
    assert declined.status_code == 400
    assert "access_denied" in declined.text
    assert (await come_back(rest, query)).status_code == 400


async def test_what_the_provider_refuses_is_not_verified(
    rest: httpx.AsyncClient, sign_in: SignIn, caplog: pytest.LogCaptureFixture
) -> None:
    query = sign_in.agree(await begin(rest), **USERS["gaming-chat"])
    page = await come_back(rest, {**query, "code": "forged"})
    assert page.status_code == 400
    assert "invalid_grant" in caplog.text
    assert "must not be logged" not in caplog.text + page.text
    assert await values(rest) == []


async def test_a_user_without_an_id_is_not_verified(rest: httpx.AsyncClient, sign_in: SignIn) -> None:
    query = sign_in.agree(await begin(rest), ok=False, error="invalid_auth")
    assert (await come_back(rest, query)).status_code == 400
    assert await values(rest) == []


async def test_an_identity_moves_to_who_verified_it_last(rest: httpx.AsyncClient, sign_in: SignIn) -> None:
    for user in ("ann", "bob"):
        await come_back(rest, sign_in.agree(await begin(rest, user=user), **USERS["gaming-chat"]))
    assert (await values(rest, "ann"), await values(rest, "bob")) == ([], ["80351110224678912"])
