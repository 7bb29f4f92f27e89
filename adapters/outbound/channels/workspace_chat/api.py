"""Calls of Slack's Web API (https://docs.slack.dev/apis/web-api/)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.client import PlatformClient, is_address_of
from adapters.outbound.channels.common.outcomes import by_status, exchange
from domain.channels.limits import Scope
from domain.channels.messages import ChannelMetadata, Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

from .config import SlackConfig

BASE = PlatformAddress("WORKSPACE_CHAT_API_URL", "https://slack.com/api")
RESPONSE_URL = "response_url"
SEND_TIMEOUT = 15.0
DOMAINS = ("slack.com", "slack-files.com", "slack-gov.com")
"""Slack's own hosts, and those below them."""
SENDING_SCOPES = ("chat:write", "files:write")
_TRY_AGAIN = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
        "accesslimited",
        "external_channel_migrating",
        "org_login_required",
    }
)
_OF_RECIPIENT = frozenset(
    {
        "user_not_found",
        "users_not_found",
        "user_disabled",
        "user_not_visible",
        "cannot_dm_bot",
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "is_inactive",
        "thread_not_found",
        "thread_locked",
        "cannot_reply_to_message",
    }
)
"""A person who left, or a channel that is gone or from which the bot was removed."""
_WORKSPACE_LIMIT = "message_limit_exceeded"
_TOO_OFTEN = frozenset({"ratelimited", "rate_limited", _WORKSPACE_LIMIT})


class WebApi:
    """Slack answers most errors with status 200 and 'ok': false."""

    metadata_seconds = 3600.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self.client = PlatformClient(dependencies.http, "Slack", _reason, _is_ok)
        self._address = dependencies.address

    async def read(
        self, config: SlackConfig, method: str, timeout: float = SEND_TIMEOUT, **form: str
    ) -> dict[str, Any]:
        """The answer of a method, form-encoded. Raises `PlatformError`."""
        return await self.client.read(self._request(config, method, timeout=timeout, form=form))

    async def call(self, config: SlackConfig, method: str, **content: Any) -> tuple[Sent, Mapping[str, Any]]:
        """The outcome of a method, and Slack's answer. `content`: `json` or `form`, and `timeout`."""
        answer = await exchange(self.client.http, self._request(config, method, **content))
        if isinstance(answer, Sent):
            return answer, {}
        body = answer.json()
        return outcome(answer), body if isinstance(body, dict) else {}

    async def post(self, config: SlackConfig, method: str, **body: Any) -> Sent:
        """The outcome of a method, called with JSON."""
        sent, _ = await self.call(config, method, json=body)
        return sent

    async def respond(self, url: str, body: Mapping[str, Any]) -> Sent:
        """Posts to a response_url; details of failures begin with its name."""
        answer = await exchange(self.client.http, HttpRequest("POST", url, json=body, user_address=True))
        if isinstance(answer, HttpAnswer):
            if at(answer.json(), "ok") is not False:
                return by_status(answer, detail=f"{RESPONSE_URL} was refused")
            answer = outcome(answer)
        return replace(answer, detail=f"{RESPONSE_URL}: {answer.detail}")

    async def fetch_metadata(self, config: SlackConfig) -> ChannelMetadata:
        """The bot's own user id, by which it is mentioned."""
        me = await self.read(config, "auth.test", timeout=2.0)
        return {"user_id": text(me, "user_id")}

    async def probe(self, config: SlackConfig) -> None:
        """Raises `PlatformError` where the token is refused, or lacks a scope that answers need.

        Each answer of Slack has a header with the scopes of the token; classic apps have the scope `bot`.
        """
        answer = await self.client.answer(self._request(config, "auth.test", form={}))
        granted = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",")} - {""}
        missing = [scope for scope in SENDING_SCOPES if scope not in granted]
        if granted and missing and "bot" not in granted:
            raise PlatformError(
                f"Slack: the token lacks {' and '.join(missing)}, so that answers or their files are refused; add it"
                " under OAuth & Permissions, and reinstall the app"
            )

        if config.app_token:
            await self.open_connection(config)

    async def open_connection(self, config: SlackConfig) -> str:
        """The address of a new connection in Socket Mode. Raises `PlatformError`."""
        method = "apps.connections.open"
        request = HttpRequest("POST", f"{self.base}/{method}", headers=bearer(config.app_token), form={})
        try:
            address = text(await self.client.read(request), "url")
        except PlatformError as error:
            raise PlatformError(f"{error} ({method} with appToken)", retry_after=error.retry_after) from None
        if not is_address_of(address.replace("ws", "http", 1), self.base, DOMAINS):
            raise PlatformError("Slack: the address for Socket Mode is not Slack's; it is not connected to.")
        return address

    @property
    def base(self) -> str:
        return self._address(BASE).rstrip("/")

    def _request(
        self, config: SlackConfig, method: str, *, timeout: float = SEND_TIMEOUT, **content: Any
    ) -> HttpRequest:
        return HttpRequest(
            "POST", f"{self.base}/{method}", headers=bearer(config.bot_token), timeout=timeout, **content
        )


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer of the Web API."""
    if not answer.ok:
        return by_status(answer, _reason(answer))
    body = answer.json()
    if at(body, "ok") is True:
        return Sent(Outcome.SENT, ref=text(body, "ts"))
    error = text(body, "error")
    if error in _TOO_OFTEN:
        scope = Scope.ACCOUNT if error == _WORKSPACE_LIMIT else None
        return Sent(Outcome.RETRY_AFTER, error, retry_after=answer.retry_after, scope=scope)
    if error in _TRY_AGAIN:
        return Sent(Outcome.TRANSIENT, error)
    if not error:
        return Sent(
            Outcome.UNKNOWN, "Slack's answer could not be read: it names neither success nor an error."
        )
    of_recipient = error in _OF_RECIPIENT or error.startswith("restricted_action")
    return Sent(Outcome.PERMANENT, _reason(answer), of_recipient=of_recipient)


def _is_ok(answer: HttpAnswer) -> bool:
    return at(answer.json(), "ok") is True


def _reason(answer: HttpAnswer) -> str:
    body = answer.json()
    error, needed = text(body, "error"), text(body, "needed")
    return f"{error} (needed: {needed})" if needed else error
