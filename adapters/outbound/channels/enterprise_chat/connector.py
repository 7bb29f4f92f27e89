"""The Bot Connector service: the bot's token, requests to the service URL of a conversation, and which service URLs
may receive the token.

A service URL comes with the activity, and the token sent there speaks for the bot. So only the Bot Framework's own
hosts are trusted, and those that the operator named. Source:
https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference
"""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from adapters.outbound.channels.common import client, outcomes
from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.net.oauth import TokenRefused, Tokens, TokenUnavailable
from adapters.outbound.net.urls import base_address, segment
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

from .config import TeamsConfig, TeamsTarget

LOGIN = PlatformAddress("ENTERPRISE_CHAT_LOGIN_URL", "https://login.microsoftonline.com")
OPENID = PlatformAddress(
    "ENTERPRISE_CHAT_OPENID_URL", "https://login.botframework.com/v1/.well-known/openidconfiguration"
)
SERVICE = PlatformAddress("ENTERPRISE_CHAT_SERVICE_URL", "https://smba.trafficmanager.net/teams")
"""Where conversations are opened; afterwards their activities say where the service of their region is
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/send-proactive-messages)."""
TRUSTED_HOSTS = PlatformAddress("ENTERPRISE_CHAT_TRUSTED_HOSTS")
EMULATOR = PlatformAddress("ENTERPRISE_CHAT_EMULATOR")
"""Any value but an empty one: an emulator on this machine is answered without a token."""
SCOPE = "https://api.botframework.com/.default"
_GOVERNMENT_SCOPE = "https://api.botframework.us/.default"
_MULTI_TENANT = "botframework.com"
_REFUSED_TOKEN = 401
_OF_RECIPIENT = (
    "ActivityNotFoundInConversation", "BotNotInConversationRoster", "ConversationBlockedByUser",
    "ConversationNotFound", "ForbiddenOperationException", "MessageWritesBlocked",
)  # fmt: skip
"""Codes and sub-codes of what concerns one person or conversation: the app was blocked or removed there
(https://learn.microsoft.com/microsoftteams/platform/bots/build-conversational-capability#status-code-responses)."""
_CONFLICT = 412
"""Two activities of one conversation met: to be tried again
(https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit)."""


WEBHOOK = "webhook"
"""The address of the incoming webhook, which names its conversation itself."""
_ADDRESS = re.compile(rf"{WEBHOOK}|(?:19|a|8):[A-Za-z0-9_.:@;=+/-]{{1,300}}")


class Connector:
    """Sends activities as the bot of a config."""

    address = (
        "the id of a conversation of the bot, such as 19:...@thread.tacv2 (a channel), 19:...@thread.v2 (a group"
        f" chat) or a:... (a personal chat), or {WEBHOOK} for the channel of webhookUrl"
    )

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http
        self._client = client.PlatformClient(dependencies.http, "Teams", outcomes.excerpt)
        self._address = dependencies.address
        self._tokens = Tokens(dependencies.http, dependencies.clock)

    async def bearer(self, config: TeamsConfig) -> str:
        """The value of the Authorization header. Raises `TokenRefused`, `TokenUnavailable`."""
        return f"Bearer {await self._tokens.get(*self._grant(config))}"

    def forget(self, config: TeamsConfig) -> None:
        """Drops the bot's token, so that the next request gets a new one."""
        self._tokens.forget(*self._grant(config))

    def trusts(self, service_url: str) -> bool:
        """Return True if the bot's token may be sent there."""
        own = (self._address(LOGIN), self._address(OPENID), self._address(SERVICE))
        return is_trusted(service_url, own, tuple(self._address(TRUSTED_HOSTS).split(",")))

    async def probe(self, config: TeamsConfig) -> None:
        """Gets a token with the bot's credentials. An incoming webhook cannot be tried without posting.

        Raises `PlatformError`.
        """
        if config.has_app:
            self.forget(config)
            try:
                await self.bearer(config)
            except TokenRefused as error:
                raise PlatformError(f"Microsoft did not take appId and appPassword: {error}") from error
            except TokenUnavailable as error:
                raise PlatformError(str(error), transient=True) from error
        elif not config.webhook_url and not self._address(EMULATOR):
            raise PlatformError("Neither webhookUrl nor appId with appPassword is set: answers go nowhere.")

    def is_emulator(self, config: TeamsConfig, service_url: str) -> bool:
        """Return True for a conversation in an emulator on this machine: no app, no tokens."""
        return bool(self._address(EMULATOR)) and not config.app_id and is_loopback(service_url)

    async def send(
        self,
        config: TeamsConfig,
        target: TeamsTarget,
        body: Mapping[str, Any],
        *,
        replaces: str = "",
        timeout: float = 30.0,
    ) -> Sent:
        """Posts an activity to its conversation, or replaces the one that `replaces` names."""
        activity = replaces or text(body, "replyToId")
        request = _request("PUT" if replaces else "POST", target, activity, json=body, timeout=timeout)
        return await self._send(config, target.service_url, request)

    async def delete(self, config: TeamsConfig, target: TeamsTarget, activity: str) -> Sent:
        return await self._send(config, target.service_url, _request("DELETE", target, activity))

    async def _send(self, config: TeamsConfig, service_url: str, request: HttpRequest) -> Sent:
        if self.is_emulator(config, service_url):
            return await outcomes.send(self._http, request, outcome)
        if not config.has_app:
            missing = f"appId and appPassword are missing, or for an emulator {EMULATOR.setting}."
            return Sent(Outcome.PERMANENT, missing)
        if not self.trusts(service_url):
            return Sent(
                Outcome.PERMANENT,
                f"serviceUrl {service_url[:200]} is not one of the Bot Framework. List a host of your own in "
                f"{TRUSTED_HOSTS.setting}; for an emulator set {EMULATOR.setting}, and no appId.",
            )
        try:
            answer = await outcomes.exchange(self._http, await self._with_token(config, request))
            if isinstance(answer, HttpAnswer) and answer.status == _REFUSED_TOKEN:
                self.forget(config)
                answer = await outcomes.exchange(self._http, await self._with_token(config, request))
        except (TokenRefused, TokenUnavailable) as error:
            return outcomes.without_token(error)
        return answer if isinstance(answer, Sent) else outcome(answer)

    async def _with_token(self, config: TeamsConfig, request: HttpRequest) -> HttpRequest:
        return replace(request, headers={"authorization": await self.bearer(config)})

    async def fetch(self, config: TeamsConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file; the token goes to trusted hosts alone. Raises `PlatformError`."""
        url = str(attachment.source["url"])
        trusted = self.trusts(url) and config.has_app
        request = HttpRequest("GET", url, user_address=not trusted, follow_redirects=True)
        try:
            request = await self._with_token(config, request) if trusted else request
        except (TokenRefused, TokenUnavailable) as error:
            raise PlatformError(str(error)) from error
        async for piece in self._client.download(request):
            yield piece

    def default_address(self, config: TeamsConfig) -> str:
        return WEBHOOK if config.webhook_url else ""

    async def open(self, config: TeamsConfig, request: OpenRequest) -> Opened[TeamsTarget]:
        """A bot may write to conversations that it is part of; which service has them, their activities say."""
        to = read_address(_ADDRESS, request.to, self.address)[0]
        if to == WEBHOOK:
            if not config.webhook_url:
                raise no_address(f"{WEBHOOK} needs webhookUrl in the configuration")
            return Opened(to, TeamsTarget())
        if not config.has_app:
            raise no_address("a conversation id needs appId and appPassword in the configuration")
        bot = {"id": f"28:{config.app_id}"}
        return Opened(to, TeamsTarget(service_url=self._address(SERVICE), conversation=to, bot=bot))

    def _grant(self, config: TeamsConfig) -> tuple[str, dict[str, str]]:
        """The address of the token server, and what it is asked for."""
        address = self._address(LOGIN).rstrip("/")
        government = "microsoftonline.us" in address
        if not address.endswith("/token"):
            address = f"{address}/{segment(config.tenant_id or _MULTI_TENANT)}/oauth2/v2.0/token"
        return address, {
            "grant_type": "client_credentials",
            "client_id": config.app_id,
            "client_secret": config.app_password,
            "scope": _GOVERNMENT_SCOPE if government else SCOPE,
        }


def _request(method: str, target: TeamsTarget, activity: str, **content: Any) -> HttpRequest:
    """An answer hangs below the activity that it answers."""
    url = f"{base_address(target.service_url)}/v3/conversations/{segment(target.conversation)}/activities"
    url = f"{url}/{segment(activity)}" if activity else url
    return HttpRequest(method, url, **content)


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer of the service; `ref` is the id of the activity."""
    body = answer.json()
    reason = " ".join(filter(None, [text(body, "error", "code"), text(body, "error", "message")]))
    sent = outcomes.by_status(answer, reason or text(body, "message"), ref=text(body, "id"))
    sent = replace(sent, of_recipient=not answer.ok and any(code in reason for code in _OF_RECIPIENT))
    return replace(sent, outcome=Outcome.TRANSIENT) if answer.status == _CONFLICT else sent


_MICROSOFT = (
    "smba.trafficmanager.net",
    "smba.infra.gcc.teams.microsoft.com",
    "smba.infra.gov.teams.microsoft.us",
    "smba.infra.dod.teams.microsoft.us",
    ".botframework.com",
    ".botframework.us",
    ".botframework.azure.us",
    ".botframework.azure.cn",
)
_PUBLIC = frozenset({"login.microsoftonline.com", "login.microsoftonline.us", "login.botframework.com"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NAME = r"[A-Za-z0-9_-]+"
_ENTRY = re.compile(
    rf"(?:{_NAME}(?:\.{_NAME})*|\*?\.{_NAME}(?:\.{_NAME})+|\[[0-9A-Fa-f:.]+\])(?::\d{{1,5}})?"
)


def is_host_entry(entry: str) -> bool:
    """Return True if an entry of the operator's list can be understood.

    `name` (also an IPv4 address), `[IPv6 address]`, `.domain` or `*.domain`; each may end in `:port`.
    """
    try:
        return bool(_ENTRY.fullmatch(entry) and urlsplit(f"//{entry}").port != 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Return True if an http or https address names this very machine: localhost, 127.0.0.1 or ::1."""
    parts = _parts(url)
    return parts is not None and parts.hostname in _LOOPBACK


def is_trusted(
    service_url: str, operator_addresses: tuple[str, ...], operator_hosts: tuple[str, ...] = ()
) -> bool:
    """Return True if a token may go there.

    `operator_addresses` are the settings of the login and metadata servers: if they name a host of the
    operator's own (a local Bot Framework, a proxy), that host is trusted as well, under the same scheme.
    `operator_hosts` are trusted over https, on port 443 if they name no port; see `is_host_entry`.
    """
    service = _parts(service_url)
    if service is None:
        return False
    if service.scheme == "https":
        host, port = service.hostname or "", service.port or 443
        if any(_names(entry, host, port) for entry in (*_MICROSOFT, *operator_hosts)):
            return True
    addresses = (_parts(address) for address in operator_addresses)
    return any(address is not None and _same_host(service, address) for address in addresses)


def _names(entry: str, host: str, port: int) -> bool:
    if not is_host_entry(entry):
        return False
    named = urlsplit(f"//{entry}")
    name = (named.hostname or "").removeprefix("*")
    if port != (named.port or 443):
        return False
    return host.endswith(name) if name.startswith(".") else _canonical(host) == _canonical(name)


def _canonical(host: str) -> str:
    """An address in its shortest spelling, a name as it stands."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host


def _same_host(service: SplitResult, setting: SplitResult) -> bool:
    theirs, ours = service.hostname or "", setting.hostname or ""
    if ours in _PUBLIC or service.scheme != setting.scheme:
        return False
    return theirs == ours or (theirs in _LOOPBACK and ours in _LOOPBACK)


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.username is None and "\\" not in url else None
