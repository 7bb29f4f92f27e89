"""The Bot Connector service: the bot's token, and requests to the service URL of a conversation.

Source: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.channels.enterprise_chat.trust import is_loopback, is_trusted
from adapters.outbound.http.paths import base_address, segment
from adapters.outbound.oauth.tokens import TokenRefused, Tokens, TokenUnavailable
from domain.channels.messages import Config, Outcome, Sent, Target
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

LOGIN = "ENTERPRISE_CHAT_LOGIN_URL"
OPENID = "ENTERPRISE_CHAT_OPENID_URL"
TRUSTED_HOSTS = "ENTERPRISE_CHAT_TRUSTED_HOSTS"
EMULATOR = "ENTERPRISE_CHAT_EMULATOR"
"""Any value but an empty one: an emulator on this machine is answered without a token."""
SCOPE = "https://api.botframework.com/.default"
_GOVERNMENT_SCOPE = "https://api.botframework.us/.default"
_MULTI_TENANT = "botframework.com"
_REFUSED_TOKEN = 401
_CONFLICT = 412
"""Two activities of one conversation met: to be tried again
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit)."""


class Connector:
    """Sends activities as the bot of a config."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._tokens = Tokens(dependencies.http, dependencies.clock)

    async def bearer(self, config: Config) -> str:
        """The value of the Authorization header. Raises `TokenRefused`, `TokenUnavailable`."""
        return f"Bearer {await self._tokens.get(self._login(config), self._grant(config))}"

    def forget(self, config: Config) -> None:
        """Drops the bot's token, so that the next request gets a new one."""
        self._tokens.forget(self._login(config), self._grant(config))

    def trusts(self, service_url: str) -> bool:
        """Whether the bot's token may be sent there."""
        own = (self._dependencies.address(LOGIN), self._dependencies.address(OPENID))
        return is_trusted(service_url, own, tuple(self._dependencies.address(TRUSTED_HOSTS).split(",")))

    def is_emulator(self, config: Config, service_url: str) -> bool:
        """Whether a conversation is held in an emulator on this machine: no app, no tokens."""
        return (
            bool(self._dependencies.address(EMULATOR))
            and not config.get("appId")
            and is_loopback(service_url)
        )

    async def send(
        self,
        config: Config,
        target: Target,
        body: Mapping[str, Any],
        *,
        replaces: str = "",
        timeout: float = 30.0,
    ) -> Sent:
        """Posts an activity to its conversation, or puts it in the place of the one `replaces` names."""
        service_url = str(target.get("serviceUrl") or "")
        method, url = _address(service_url, target, body, replaces)
        if self.is_emulator(config, service_url):
            plain = await exchange(
                self._dependencies.http, HttpRequest(method, url, json=body, timeout=timeout)
            )
            return plain if isinstance(plain, Sent) else outcome(plain)
        if not (config.get("appId") and config.get("appPassword")):
            return Sent(
                Outcome.PERMANENT, f"appId and appPassword are missing, or for an emulator {EMULATOR}."
            )
        if not self.trusts(service_url):
            return Sent(
                Outcome.PERMANENT,
                f"serviceUrl {service_url[:200]} is not one of the Bot Framework. List a host of your own in "
                f"{TRUSTED_HOSTS}; for an emulator set {EMULATOR}, and no appId.",
            )
        answer = await self._with_token(config, method, url, body, timeout)
        if isinstance(answer, HttpAnswer) and answer.status == _REFUSED_TOKEN:
            self.forget(config)
            answer = await self._with_token(config, method, url, body, timeout)
        return answer if isinstance(answer, Sent) else outcome(answer)

    async def _with_token(
        self, config: Config, method: str, url: str, body: Mapping[str, Any], timeout: float
    ) -> HttpAnswer | Sent:
        try:
            headers = {"authorization": await self.bearer(config)}
        except TokenRefused as error:
            return Sent(Outcome.PERMANENT, str(error))
        except TokenUnavailable as error:
            waits = Outcome.RETRY_AFTER if error.retry_after is not None else Outcome.TRANSIENT
            return Sent(waits, str(error), retry_after=error.retry_after)
        request = HttpRequest(method, url, headers=headers, json=body, timeout=timeout)
        return await exchange(self._dependencies.http, request)

    async def download(self, config: Config, url: str) -> AsyncIterator[bytes]:
        """The bytes of an attachment; the token goes to trusted hosts alone."""
        trusted = self.trusts(url) and bool(config.get("appId") and config.get("appPassword"))
        headers = {"authorization": await self.bearer(config)} if trusted else {}
        request = HttpRequest("GET", url, headers=headers, user_address=not trusted, follow_redirects=True)
        async for piece in self._dependencies.http.stream(request):
            yield piece

    def _login(self, config: Config) -> str:
        base = self._dependencies.address(LOGIN).rstrip("/")
        if base.endswith("/token"):
            return base
        tenant = segment(config.get("tenantId") or _MULTI_TENANT)
        return f"{base}/{tenant}/oauth2/v2.0/token"

    def _grant(self, config: Config) -> dict[str, str]:
        government = "microsoftonline.us" in self._dependencies.address(LOGIN)
        return {
            "grant_type": "client_credentials",
            "client_id": str(config["appId"]),
            "client_secret": str(config["appPassword"]),
            "scope": _GOVERNMENT_SCOPE if government else SCOPE,
        }


def _address(service_url: str, target: Target, body: Mapping[str, Any], replaces: str) -> tuple[str, str]:
    """Method and address: an answer hangs below the activity that it answers."""
    conversation = segment(target["conversation"])
    url = f"{base_address(service_url)}/v3/conversations/{conversation}/activities"
    below = replaces or str(body.get("replyToId") or "")
    return ("PUT" if replaces else "POST"), f"{url}/{segment(below)}" if below else url


def outcome(answer: HttpAnswer) -> Sent:
    """How a request ended, in the service's own words; `ref` is the id of the activity."""
    body = answer.json()
    if answer.ok:
        return Sent(Outcome.SENT, ref=text(body, "id"))
    words = " ".join(filter(None, [text(body, "error", "code"), text(body, "error", "message")]))
    sent = by_status(answer, words or text(body, "message"))
    return replace(sent, outcome=Outcome.TRANSIENT) if answer.status == _CONFLICT else sent
