"""How this service calls an OpenID provider: how often it fetches keys, and how it names itself."""

import asyncio
import json
from base64 import b64decode
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from adapters.outbound.channels.tests.support import SetClock
from adapters.outbound.net.openid import Client, HttpOpenIdProvider
from domain.refusals import Unavailable
from ports.http import HttpAnswer, HttpFailed, HttpRequest
from ports.sign_in import SignInFailed

ISSUER = "https://login.example"
CLIENT = Client(ISSUER, "switchboard", "s3cret", "openid", "groups", "https://bots.example")
SIGNERS = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("first", "second", "unknown")}


class Provider:
    """Answers as a provider, with the keys that it publishes. It signs with `signer`."""

    def __init__(self, clock: SetClock, **metadata: Any) -> None:
        self.clock = clock
        self.metadata = metadata
        self.published = ["first"]
        self.signer = "first"
        self.is_away = False
        self.requests: list[HttpRequest] = []

    def count(self, path: str) -> int:
        return sum(request.url == ISSUER + path for request in self.requests)

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.requests.append(request)
        await asyncio.sleep(0)
        if self.is_away:
            raise HttpFailed("no connection", before_request=True)
        body = {
            "/.well-known/openid-configuration": self._metadata,
            "/jwks": self._keys,
            "/token": self._token,
        }
        return HttpAnswer(200, {}, json.dumps(body[request.url.removeprefix(ISSUER)]()).encode())

    def stream(self, request: HttpRequest) -> Any:
        raise NotImplementedError

    def _metadata(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        return {"issuer": ISSUER, **{name: ISSUER + path for name, path in paths.items()}, **self.metadata}

    def _keys(self) -> dict[str, Any]:
        algorithm = jwt.get_algorithm_by_name("ES256")
        keys = [
            {**algorithm.to_jwk(SIGNERS[name].public_key(), as_dict=True), "kid": name}
            for name in self.published
        ]
        return {"keys": keys}

    def _token(self) -> dict[str, Any]:
        now = int(self.clock.now().timestamp())
        claims = {"iss": ISSUER, "aud": CLIENT.id, "sub": "1", "nonce": "n", "iat": now, "exp": now + 60}
        headers = {"kid": self.signer}
        return {"id_token": jwt.encode(claims, SIGNERS[self.signer], algorithm="ES256", headers=headers)}


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def provider(clock: SetClock) -> Provider:
    return Provider(clock)


def client_of(provider: Provider, client: Client = CLIENT) -> HttpOpenIdProvider:
    return HttpOpenIdProvider(provider, provider.clock, client)


async def subject(client: HttpOpenIdProvider) -> str:
    return (await client.identify("code", "n", "v" * 43)).subject


async def test_keys_are_fetched_once_an_hour(provider: Provider, clock: SetClock) -> None:
    client = client_of(provider)
    for _ in range(3):
        assert await subject(client) == "1"
    assert (provider.count("/jwks"), provider.count("/.well-known/openid-configuration")) == (1, 1)
    clock.advance(3601)
    assert await subject(client) == "1"
    assert (provider.count("/jwks"), provider.count("/.well-known/openid-configuration")) == (2, 2)


async def test_a_new_key_is_fetched_for_the_token_that_it_signed(provider: Provider, clock: SetClock) -> None:
    client = client_of(provider)
    await subject(client)
    provider.published, provider.signer = ["first", "second"], "second"
    clock.advance(11)
    assert await subject(client) == "1"
    assert await subject(client) == "1"
    assert provider.count("/jwks") == 2


async def test_tokens_with_unknown_keys_have_keys_fetched_every_ten_seconds_at_most(
    provider: Provider, clock: SetClock
) -> None:
    client = client_of(provider)
    await subject(client)
    provider.signer = "unknown"
    for _ in range(20):
        clock.advance(1)
        for _ in range(5):
            with pytest.raises(SignInFailed, match="unknown key"):
                await subject(client)
    assert provider.count("/jwks") == 2
    provider.signer = "first"
    assert await subject(client) == "1"


async def test_many_sign_ins_at_once_fetch_keys_once(provider: Provider, clock: SetClock) -> None:
    client = client_of(provider)
    assert await asyncio.gather(*[subject(client) for _ in range(20)]) == ["1"] * 20
    assert provider.count("/jwks") == 1
    provider.signer = "unknown"
    clock.advance(11)
    failures = await asyncio.gather(*[subject(client) for _ in range(20)], return_exceptions=True)
    assert {type(failure) for failure in failures} == {SignInFailed}
    assert provider.count("/jwks") == 2


async def test_keys_that_are_withdrawn_are_not_taken_from_memory_for_ever(
    provider: Provider, clock: SetClock
) -> None:
    client = client_of(provider)
    await subject(client)
    provider.published = ["second"]
    clock.advance(3601)
    with pytest.raises(SignInFailed, match="unknown key"):
        await subject(client)


async def test_a_provider_that_is_away_is_asked_again_the_next_time(provider: Provider) -> None:
    client = client_of(provider)
    provider.is_away = True
    with pytest.raises(Unavailable):
        await subject(client)
    provider.is_away = False
    assert await subject(client) == "1"


@pytest.mark.parametrize("secret", [
    "plain", "a:b", "p@ss w+rd/=", "100%", "%41", "ü€", "a&b=c", "~-._", '"\\', ":", " ",
])  # fmt: skip
@pytest.mark.parametrize("client_id", ["switchboard", "https://bots.example/:x", "ann y", "ö"])
async def test_the_header_of_the_client_is_read_back_as_it_was(
    clock: SetClock, client_id: str, secret: str
) -> None:
    """By RFC 6749, 2.3.1: both are encoded as form fields, and a colon between them."""
    provider = Provider(clock)
    client = client_of(
        provider, Client(ISSUER, client_id, secret, "openid", "groups", "https://bots.example")
    )
    with suppress(SignInFailed):  # the token of this provider is for one client alone
        await subject(client)
    [request] = [request for request in provider.requests if request.url.endswith("/token")]
    scheme, _, pair = request.headers["Authorization"].partition(" ")
    encoded = b64decode(pair, validate=True).decode("ascii").split(":")
    assert (scheme, [unquote_plus(part) for part in encoded]) == ("Basic", [client_id, secret])
    assert "client_secret" not in (request.form or {})


@pytest.mark.parametrize(
    "methods", [["client_secret_post"], ["private_key_jwt"], ["client_secret_post", 1, None]]
)
async def test_the_secret_stands_in_the_form_where_the_provider_takes_no_header(
    clock: SetClock, methods: list[Any]
) -> None:
    provider = Provider(clock, token_endpoint_auth_methods_supported=methods)
    await subject(client_of(provider))
    [request] = [request for request in provider.requests if request.url.endswith("/token")]
    assert "Authorization" not in request.headers
    assert (request.form or {})["client_secret"] == "s3cret"


async def test_a_public_client_sends_no_secret(provider: Provider) -> None:
    await subject(
        client_of(provider, Client(ISSUER, CLIENT.id, "", "openid", "groups", "https://bots.example"))
    )
    [request] = [request for request in provider.requests if request.url.endswith("/token")]
    assert "Authorization" not in request.headers
    assert "client_secret" not in (request.form or {})


def test_the_secret_is_not_shown() -> None:
    assert "s3cret" not in repr(CLIENT)
