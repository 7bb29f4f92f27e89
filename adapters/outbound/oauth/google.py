"""Access tokens for Google's APIs, from the refresh token of an instance.

Source: https://developers.google.com/identity/protocols/oauth2/web-server#offline
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from adapters.outbound.oauth.tokens import Tokens
from domain.channels.messages import Config
from ports.clock import Clock
from ports.http import Http

TOKEN_URL = "GOOGLE_TOKEN_URL"  # noqa: S105 - the name of a setting


class GoogleTokens:
    """The access token of a config with clientId, clientSecret, refreshToken and perhaps redirectUri."""

    def __init__(self, http: Http, clock: Clock, address: Callable[[str], str]) -> None:
        self._tokens = Tokens(http, clock)
        self._address = address

    async def bearer(self, config: Config) -> str:
        """The value of the Authorization header.

        Raises `TokenRefused` (`invalid_grant`: the refresh token is dead) and `TokenUnavailable`.
        """
        return f"Bearer {await self._tokens.get(self._url(), _grant(config))}"

    def lacks(self, config: Config, scopes: Collection[str]) -> bool:
        """Whether Google said of the present token that it was granted none of these scopes."""
        granted = self._tokens.scopes(self._url(), _grant(config))
        return bool(granted) and granted.isdisjoint(scopes)

    def forget(self, config: Config) -> None:
        """Drops the access token, after an API refused it."""
        self._tokens.forget(self._url(), _grant(config))

    def _url(self) -> str:
        url = self._address(TOKEN_URL)
        return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/token"


def _grant(config: Config) -> dict[str, str]:
    grant = {
        "grant_type": "refresh_token",
        "client_id": str(config["clientId"]),
        "client_secret": str(config["clientSecret"]),
        "refresh_token": str(config["refreshToken"]),
    }
    if config.get("redirectUri"):
        grant["redirect_uri"] = str(config["redirectUri"])
    return grant
