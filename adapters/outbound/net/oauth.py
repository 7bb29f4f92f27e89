"""OAuth 2.0: access tokens (RFC 6749, section 5), cached until shortly before they expire, and sign-in at Slack,
Discord, Mattermost and Microsoft, which gives the id of a user there.

Sources: https://docs.slack.dev/authentication/sign-in-with-slack, https://docs.discord.com/developers/topics/oauth2,
https://developers.mattermost.com/integrate/apps/authentication/oauth2,
https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow,
https://learn.microsoft.com/en-us/graph/api/user-get (`id` is what Teams calls `aadObjectId`)
"""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode, urlsplit

from adapters.outbound.channels.common.bodies import at, text
from domain.channels.messages import Identity
from domain.refusals import Invalid
from domain.verification.model import Provider, challenge, checked_email
from ports.access import OAuthFailed, ProvenAccount
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
        """The scopes of the present token; empty without a token, or if the endpoint names no scopes."""
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
            try:
                seconds = float(at(body, "expires_in"))
            except (TypeError, ValueError):
                seconds = _DEFAULT_LIFETIME
            lifetime = min(max(seconds, 0.0), 86_400.0) if seconds == seconds else _DEFAULT_LIFETIME
            return token, lifetime, frozenset(text(body, "scope").split())
        fault = text(body, "error")
        reason = f"{fault} {text(body, 'error_description')}".strip() or f"HTTP {answer.status}"
        message = f"The token endpoint answered {reason[:300]}"
        if answer.ok or answer.status == 429 or answer.status >= 500 or fault in _TRANSIENT:
            raise TokenUnavailable(message, answer.retry_after)
        raise TokenRefused(message)


def _key(url: str, grant: Mapping[str, str]) -> str:
    """Identifies a grant without holding its secrets in memory a second time."""
    return hashlib.sha256(json.dumps([url, sorted(grant.items())]).encode()).hexdigest()


CALLBACK_PATH = "/api/agent/verification/callback/"


@dataclass(frozen=True, slots=True)
class _Platform:
    """`claims`: the fields of the user information in which the user's id stands, the best first. `email_scope`: what
    has the platform tell the e-mail address. `verified`: the field that says that the platform has verified it; empty
    where it says nothing of that."""

    settings: str
    scope: str
    claims: tuple[str, ...]
    pkce: bool
    email_scope: str = ""
    verified: str = ""


_PLATFORMS: Mapping[Provider, _Platform] = {
    Provider.WORKSPACE_CHAT: _Platform(
        "WORKSPACE_CHAT",
        "openid profile",
        ("https://slack.com/user_id", "sub"),
        pkce=False,
        email_scope="email",
        verified="email_verified",
    ),
    Provider.GAMING_CHAT: _Platform(
        "GAMING_CHAT", "identify", ("id",), pkce=True, email_scope="email", verified="verified"
    ),
    Provider.COMMUNITY_CHAT: _Platform("COMMUNITY_CHAT", "", ("id",), pkce=True, verified="email_verified"),
    Provider.ENTERPRISE_CHAT: _Platform("ENTERPRISE_CHAT", "openid User.Read", ("id",), pkce=True),
}


@dataclass(frozen=True, slots=True)
class Client:
    """The credentials of the application at the platform."""

    id: str
    secret: str = field(repr=False)


class OAuthIdentities:
    """`ports.access.OAuthProviders`. `address` gives settings such as GAMING_CHAT_TOKEN_URL."""

    def __init__(
        self,
        http: Http,
        clients: Mapping[Provider, Client],
        address: Callable[[str], str],
        platform_url: str,
    ) -> None:
        self._http = http
        self._clients = clients
        self._address = address
        self._platform_url = platform_url.rstrip("/")

    def authorize_url(
        self, provider: Provider, state: str, verifier: str, *, with_email: bool = False
    ) -> str:
        platform = _PLATFORMS[provider]
        query = {
            "response_type": "code",
            "client_id": self._clients[provider].id,
            "redirect_uri": self._redirect_uri(provider),
            "state": state,
        }
        if scope := f"{platform.scope} {platform.email_scope if with_email else ''}".strip():
            query["scope"] = scope
        if platform.pkce:
            query |= {"code_challenge": challenge(verifier), "code_challenge_method": "S256"}
        base = self._address(f"{platform.settings}_AUTHORIZE_URL")
        return f"{base}{'&' if urlsplit(base).query else '?'}{urlencode(query)}"

    async def identify(self, provider: Provider, code: str, verifier: str) -> ProvenAccount:
        platform, client = _PLATFORMS[provider], self._clients[provider]
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri(provider),
            "client_id": client.id,
            "client_secret": client.secret,
        }
        if platform.pkce:
            form["code_verifier"] = verifier
        answer = await self._send(
            HttpRequest("POST", self._address(f"{platform.settings}_TOKEN_URL"), form=form)
        )
        token = text(answer.json(), "access_token")
        if not answer.ok or not token:
            raise OAuthFailed(f"the token endpoint answered {_reason(answer)}")
        request = HttpRequest(
            "GET",
            self._address(f"{platform.settings}_USERINFO_URL"),
            headers={"Authorization": f"Bearer {token}"},
        )
        answer = await self._send(request)
        claims = answer.json()
        user_id = next(filter(None, (text(claims, name) for name in platform.claims)), "")
        if not answer.ok or not user_id:
            raise OAuthFailed(f"the user information answered {_reason(answer)}")
        return ProvenAccount(Identity(provider.value, user_id), _verified_email(claims, platform.verified))

    async def _send(self, request: HttpRequest) -> HttpAnswer:
        try:
            return await self._http.send(request)
        except HttpFailed as failure:
            raise OAuthFailed(str(failure)) from failure

    def _redirect_uri(self, provider: Provider) -> str:
        return f"{self._platform_url}{CALLBACK_PATH}{provider.value}"


def _verified_email(claims: object, verified: str) -> str:
    """The e-mail address in lower case; empty where the platform does not say that it has verified it."""
    if not verified or at(claims, verified) is not True:
        return ""
    try:
        return checked_email(text(claims, "email"))
    except Invalid:
        return ""


def _reason(answer: HttpAnswer) -> str:
    """Status and the error code alone: bodies of these endpoints may hold tokens."""
    return f"{answer.status} {text(answer.json(), 'error')[:100]}".strip()
