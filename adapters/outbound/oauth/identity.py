"""Sign-in at Slack, Discord, Mattermost and Microsoft, which gives the id of a user there.

Sources: https://docs.slack.dev/authentication/sign-in-with-slack, https://docs.discord.com/developers/topics/oauth2,
https://developers.mattermost.com/integrate/apps/authentication/oauth2,
https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow,
https://learn.microsoft.com/en-us/graph/api/user-get (`id` is what Teams calls `aadObjectId`)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlencode, urlsplit

from adapters.outbound.channels.common.bodies import text
from domain.channels.messages import Identity
from domain.verification.model import Provider, challenge
from ports.access import OAuthFailed
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

CALLBACK_PATH = "/api/agent/verification/callback/"


@dataclass(frozen=True, slots=True)
class _Platform:
    """`claims`: the fields of the user information in which the user's id stands, the best first."""

    settings: str
    scope: str
    claims: tuple[str, ...]
    pkce: bool


_PLATFORMS: Mapping[Provider, _Platform] = MappingProxyType(
    {
        Provider.WORKSPACE_CHAT: _Platform(
            "WORKSPACE_CHAT", "openid profile", ("https://slack.com/user_id", "sub"), pkce=False
        ),
        Provider.GAMING_CHAT: _Platform("GAMING_CHAT", "identify", ("id",), pkce=True),
        Provider.COMMUNITY_CHAT: _Platform("COMMUNITY_CHAT", "", ("id",), pkce=True),
        Provider.ENTERPRISE_CHAT: _Platform("ENTERPRISE_CHAT", "openid User.Read", ("id",), pkce=True),
    }
)


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

    def authorize_url(self, provider: Provider, state: str, verifier: str) -> str:
        platform = _PLATFORMS[provider]
        query = {
            "response_type": "code",
            "client_id": self._clients[provider].id,
            "redirect_uri": self._redirect_uri(provider),
            "state": state,
        }
        if platform.scope:
            query["scope"] = platform.scope
        if platform.pkce:
            query |= {"code_challenge": challenge(verifier), "code_challenge_method": "S256"}
        base = self._address(f"{platform.settings}_AUTHORIZE_URL")
        return f"{base}{'&' if urlsplit(base).query else '?'}{urlencode(query)}"

    async def identify(self, provider: Provider, code: str, verifier: str) -> Identity:
        platform = _PLATFORMS[provider]
        token = await self._token(provider, platform, code, verifier)
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
        return Identity(provider.value, user_id)

    async def _token(self, provider: Provider, platform: _Platform, code: str, verifier: str) -> str:
        client = self._clients[provider]
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
        return token

    async def _send(self, request: HttpRequest) -> HttpAnswer:
        try:
            return await self._http.send(request)
        except HttpFailed as failure:
            raise OAuthFailed(str(failure)) from failure

    def _redirect_uri(self, provider: Provider) -> str:
        return f"{self._platform_url}{CALLBACK_PATH}{provider.value}"


def _reason(answer: HttpAnswer) -> str:
    """Status and the error code alone: bodies of these endpoints may hold tokens."""
    return f"{answer.status} {text(answer.json(), 'error')[:100]}".strip()
