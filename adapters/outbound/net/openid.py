"""Sign-in at an OpenID provider: discovery, code flow with PKCE, and proof of ID tokens.

Sources: https://openid.net/specs/openid-connect-core-1_0.html (sections 3.1 and 5), openid-connect-discovery-1_0,
openid-connect-rpinitiated-1_0, RFC 7636. PyJWT proves the signatures.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from adapters.outbound.channels.common.bodies import at, items, same, text
from domain.refusals import Unavailable
from domain.verification.model import challenge
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.sign_in import ProvenPerson, SignInFailed
from ports.system import Clock

log = logging.getLogger("switchboard.sign_in")

DISCOVERY = "/.well-known/openid-configuration"
CALLBACK = "/console/sign-in/callback"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key. A provider that names none signs with the first."""
LEEWAY = 60.0
"""Seconds by which clocks may differ."""
FRESH = timedelta(hours=1)
"""How long the provider's own description and keys are taken from memory."""
KEYS_AGAIN = timedelta(seconds=10)
"""How often at most keys are fetched for a token that is signed with an unknown one."""
LONGEST_TOKEN = 64 * 1024
LONGEST_HINT = 6000
"""Characters of an ID token that still fit into an address."""
LARGEST_ANSWER = 1024 * 1024
MOST_GROUPS = 2000
LONGEST_SUBJECT = 255
SECONDS = 15.0
AWAY = "The OpenID provider does not answer at the moment. Try again, or sign in with an API key or a link."


@dataclass(frozen=True, slots=True)
class Client:
    """This installation at the provider. `secret`: empty for a public client. `groups_claim`: where groups stand."""

    issuer: str
    id: str
    secret: str = field(repr=False)
    scopes: str
    groups_claim: str
    agent_url: str

    @property
    def redirect_uri(self) -> str:
        return f"{self.agent_url.rstrip('/')}{CALLBACK}"


@dataclass(slots=True)
class _Kept:
    """What was fetched, and when."""

    content: Mapping[str, Any]
    at: datetime


class HttpOpenIdProvider:
    """`ports.sign_in.OpenIdProvider`. The issuer is the operator's own: the address policy does not apply to it."""

    def __init__(self, http: Http, clock: Clock, client: Client) -> None:
        self._http = http
        self._clock = clock
        self._client = client
        self._metadata: _Kept | None = None
        self._keys: _Kept | None = None
        self._lock = asyncio.Lock()

    async def authorize_url(self, state: str, nonce: str, verifier: str) -> str:
        query = {
            "response_type": "code",
            "client_id": self._client.id,
            "redirect_uri": self._client.redirect_uri,
            "scope": self._client.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
        }
        return _with_query(await self._endpoint("authorization_endpoint"), query)

    async def sign_out_url(self, id_token: str) -> str:
        address = text(await self.metadata(), "end_session_endpoint")
        if not address:
            return ""
        back = f"{self._client.agent_url.rstrip('/')}/console/sign-in"
        query = {"client_id": self._client.id, "post_logout_redirect_uri": back}
        if len(id_token) <= LONGEST_HINT:
            query["id_token_hint"] = id_token
        return _with_query(address, query)

    async def identify(self, code: str, nonce: str, verifier: str) -> ProvenPerson:
        answer = await self._send(await self._exchange(code, verifier))
        body = answer.json()
        id_token, access_token = text(body, "id_token"), text(body, "access_token")
        if answer.status >= 500 or answer.status == 429:
            log.warning("the token endpoint of the OpenID provider answered %d", answer.status)
            raise Unavailable(AWAY, answer.retry_after or 5.0)
        if not answer.ok or not id_token:
            log.warning("the OpenID provider refuses the code: %s", _reason(answer))
            raise SignInFailed(f"The provider does not accept this sign-in ({_reason(answer)}).")
        claims = await self._proven(id_token, nonce)
        more = await self._user_info(claims, access_token)
        return _person(claims, more, self._client.groups_claim, id_token)

    async def _exchange(self, code: str, verifier: str) -> HttpRequest:
        metadata, client = await self.metadata(), self._client
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.redirect_uri,
            "code_verifier": verifier,
            "client_id": client.id,
        }
        headers = {"Accept": "application/json"}
        methods = at(metadata, "token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if client.secret and "client_secret_basic" in methods:
            headers["Authorization"] = _basic(client.id, client.secret)
        elif client.secret:
            form["client_secret"] = client.secret
        address = await self._endpoint("token_endpoint")
        return HttpRequest("POST", address, headers, form=form, timeout=SECONDS, max_bytes=LARGEST_ANSWER)

    async def _user_info(self, claims: Mapping[str, Any], access_token: str) -> Mapping[str, Any]:
        """The claims of the user information, where the ID token lacks some and there is such an address."""
        address = text(await self.metadata(), "userinfo_endpoint")
        lacks = "email" not in claims or self._client.groups_claim not in claims
        if not (address and access_token and lacks):
            return {}
        headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
        request = HttpRequest("GET", address, headers, timeout=SECONDS, max_bytes=LARGEST_ANSWER)
        answer = await self._send(request)
        body = answer.json()
        if not answer.ok or not isinstance(body, dict):
            log.warning("the user information of the OpenID provider answered %s", _reason(answer))
            return {}
        if text(body, "sub") != claims["sub"]:
            raise SignInFailed("The provider tells of another person than it signed in.")
        return body

    async def _proven(self, id_token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of an ID token. Raises `SignInFailed`, `Unavailable`."""
        if len(id_token) > LONGEST_TOKEN:
            raise SignInFailed("The ID token of the provider is too long.")
        claims = await self._signed(id_token)
        _check(claims, self._client, nonce, self._clock.now().timestamp())
        return claims

    async def _signed(self, id_token: str) -> Mapping[str, Any]:
        """The claims of a token whose signature is right. An unknown key has the keys fetched again."""
        import jwt

        try:
            header = jwt.get_unverified_header(id_token)
        except (jwt.PyJWTError, RecursionError):
            raise SignInFailed("The provider's ID token is not a JSON Web Token.") from None
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise SignInFailed("The provider's ID token is not signed with a public key.")
        key = await self._key(header.get("kid"), algorithm)
        options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
        try:
            public = jwt.PyJWK(dict(key), algorithm=algorithm)
            claims: Mapping[str, Any] = jwt.decode(id_token, public, algorithms=[algorithm], options=options)
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            raise SignInFailed("The signature of the provider's ID token is wrong.") from None
        return claims

    async def _key(self, key_id: object, algorithm: str) -> Mapping[str, Any]:
        for fresher_than in (FRESH, KEYS_AGAIN):
            keys = _usable(items(await self._jwks(fresher_than), "keys"), algorithm)
            if key_id is None and len(keys) == 1:
                return keys[0]
            if key := next((key for key in keys if key_id and key.get("kid") == key_id), None):
                return key
        raise SignInFailed("The provider's ID token is signed with an unknown key.")

    async def metadata(self) -> Mapping[str, Any]:
        """What the provider says of itself. Raises `Unavailable`."""
        async with self._lock:
            if self._metadata is None or self._clock.now() - self._metadata.at > FRESH:
                content = await self._fetch(self._client.issuer.rstrip("/") + DISCOVERY)
                if text(content, "issuer").rstrip("/") != self._client.issuer.rstrip("/"):
                    log.error("OIDC_ISSUER is %s, and names itself otherwise", self._client.issuer)
                    raise Unavailable(
                        "The OpenID provider is set up wrongly here: its issuer has another name.", 60
                    )
                self._metadata = _Kept(content, self._clock.now())
            return self._metadata.content

    async def _jwks(self, fresher_than: timedelta) -> Mapping[str, Any]:
        address = await self._endpoint("jwks_uri")
        async with self._lock:
            if self._keys is None or self._clock.now() - self._keys.at > fresher_than:
                self._keys = _Kept(await self._fetch(address), self._clock.now())
            return self._keys.content

    async def _endpoint(self, name: str) -> str:
        address = text(await self.metadata(), name)
        if urlsplit(address).scheme not in ("https", "http"):
            log.error("the OpenID provider names no %s", name)
            raise Unavailable(AWAY, 60)
        return address

    async def _fetch(self, address: str) -> Mapping[str, Any]:
        request = HttpRequest("GET", address, timeout=SECONDS, max_bytes=LARGEST_ANSWER)
        answer = await self._send(request)
        body = answer.json()
        if not answer.ok or not isinstance(body, dict):
            log.warning("the OpenID provider answered %d at %s", answer.status, address)
            raise Unavailable(AWAY, answer.retry_after or 5.0)
        return body

    async def _send(self, request: HttpRequest) -> HttpAnswer:
        try:
            return await self._http.send(request)
        except HttpFailed as failure:
            log.warning("the OpenID provider cannot be reached: %s", failure)
            raise Unavailable(AWAY, 5.0) from failure


def _usable(keys: Sequence[Any], algorithm: str) -> list[Mapping[str, Any]]:
    """Those that may have signed with this algorithm."""
    return [
        key
        for key in keys
        if isinstance(key, dict)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and key.get("kty") in ("RSA", "EC", "OKP")
    ]


def _check(claims: Mapping[str, Any], client: Client, nonce: str, now: float) -> None:
    """Raises `SignInFailed` for a token of another issuer, client, sign-in or time."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    subject = claims.get("sub")
    if text(claims, "iss").rstrip("/") != client.issuer.rstrip("/"):
        raise SignInFailed("The ID token has another issuer than the provider.")
    if client.id not in audiences or not same(text(claims, "azp") or client.id, client.id):
        raise SignInFailed("The ID token is for another application.")
    if not same(text(claims, "nonce"), nonce):
        raise SignInFailed("The ID token belongs to another sign-in.")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise SignInFailed("The ID token names nobody.")
    _check_times(claims, now)


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires, begins = _seconds(claims.get("exp")), _seconds(claims.get("nbf", 0))
    issued = _seconds(claims.get("iat"))
    if expires is None or issued is None or now >= expires + LEEWAY:
        raise SignInFailed("The ID token of the provider has expired.")
    if begins is None or max(begins, issued) > now + LEEWAY:
        raise SignInFailed("The ID token of the provider is not valid yet: one of the clocks is wrong.")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _person(
    claims: Mapping[str, Any], more: Mapping[str, Any], groups_claim: str, id_token: str
) -> ProvenPerson:
    together = {**more, **claims}
    email = text(together, "email").strip().lower()
    # Microsoft Entra says by `xms_edov` of an address that its domain was verified.
    proofs = (together.get("email_verified"), together.get("xms_edov"))
    is_verified = any(proof in (True, "true", "True", "1", 1) for proof in proofs)
    is_address = 0 < len(email) <= 200 and email.count("@") == 1 and email.isprintable()
    groups = together.get(groups_claim)
    names = groups if isinstance(groups, list) else [groups]
    return ProvenPerson(
        claims["sub"],
        email if is_verified and is_address else "",
        "".join(filter(str.isprintable, text(together, "name") or text(together, "preferred_username"))),
        frozenset(name for name in names[:MOST_GROUPS] if isinstance(name, str)),
        id_token,
    )


def _basic(client_id: str, secret: str) -> str:
    """RFC 6749, 2.3.1: both are encoded as form fields first."""
    from base64 import b64encode

    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _reason(answer: HttpAnswer) -> str:
    """Status and the error code alone: bodies of these endpoints may hold tokens."""
    return f"{answer.status} {text(answer.json(), 'error')[:100]}".strip()
