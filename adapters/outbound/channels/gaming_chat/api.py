"""Calls of Discord's HTTP API (https://docs.discord.com/developers/reference)."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.client import DOWNLOAD_TIMEOUT, PlatformClient, masked
from adapters.outbound.channels.common.outcomes import by_status, exchange, seconds_in
from adapters.outbound.net.urls import segment
from domain.channels.limits import Scope
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.channels import ChannelDependencies
from ports.http import FormFile, HttpAnswer, HttpRequest

from .config import DiscordConfig, DiscordTarget

BASE = PlatformAddress("GAMING_CHAT_API_URL", "https://discord.com/api/v10")
SEND_TIMEOUT = 15.0
UPLOAD_TIMEOUT = 120.0
MAX_DOWNLOAD = 500_000_000
OVERLOADED = 130000
"""The code of "API resource is currently overloaded. Try again a little later"."""
_OF_RECIPIENT = frozenset(
    {10003, 10004, 10008, 10013, 40007, 50001, 50007, 50013, 50083, 50278, 160005, 200000, 240000}
)
"""A person who takes no direct messages or shares no server with the bot, a channel that is gone, archived, locked or
closed to the bot, a message that the server's rules refuse."""
TOKEN_GONE = frozenset({10008, 10015, 10062, 50027})
USER_AGENT = "DiscordBot (https://switchboard.invalid, 1)"


@dataclass(frozen=True, slots=True)
class ApiResult:
    """The outcome of a call; `code` is Discord's own code of the error, 0 for none."""

    sent: Sent
    status: int = 0
    code: int = 0

    @property
    def is_gone(self) -> bool:
        """Return True if the token of an interaction has ended, or its message does not exist."""
        return self.code in TOKEN_GONE or self.status in (401, 404)


class DiscordApi:
    """Errors never contain the token of an interaction, which is part of its addresses."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self.client = PlatformClient(dependencies.http, "Discord", _reason)
        self._address = dependencies.address

    async def read(self, config: DiscordConfig, path: str, timeout: float = SEND_TIMEOUT) -> dict[str, Any]:
        """A resource, read as the bot. Raises `PlatformError`."""
        return await self.client.read(self._get(config, path, timeout))

    async def read_list(self, config: DiscordConfig, path: str, timeout: float) -> list[Any]:
        """A list of resources. Raises as `read`."""
        client = replace(self.client, succeeded=lambda answer: isinstance(answer.json(), list))
        resources: list[Any] = (await client.answer(self._get(config, path, timeout))).json()
        return resources

    def _get(self, config: DiscordConfig, path: str, timeout: float) -> HttpRequest:
        return HttpRequest("GET", self._url(path), headers=_bot(config), timeout=timeout)

    async def find_channel(self, config: DiscordConfig, channel: str) -> dict[str, Any] | None:
        """A channel, None if no channel has that id. Raises `PlatformError`."""
        return await self.client.find(self._get(config, f"/channels/{segment(channel)}", SEND_TIMEOUT))

    async def open_direct(self, config: DiscordConfig, user: str) -> dict[str, Any]:
        """The channel of direct messages with a user, the same each time. Raises `PlatformError`."""
        url, body = self._url("/users/@me/channels"), {"recipient_id": user}
        return await self.client.read(_request("POST", url, _bot(config), body))

    async def probe(self, config: DiscordConfig) -> None:
        await self.read(config, "/users/@me")

    def fetch(self, config: DiscordConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        request = HttpRequest(
            "GET",
            text(attachment.source, "url"),
            timeout=DOWNLOAD_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        return self.client.download(request)

    async def as_bot(
        self,
        config: DiscordConfig,
        method: str,
        path: str,
        body: Mapping[str, Any],
        file: FormFile | None = None,
    ) -> ApiResult:
        return await self._call(_request(method, self._url(path), _bot(config), body, file))

    async def by_token(
        self,
        target: DiscordTarget,
        method: str,
        path: str,
        body: Mapping[str, Any],
        file: FormFile | None = None,
    ) -> ApiResult:
        """Calls the webhook of an interaction; `path` begins behind its token."""
        token = segment(target.token)
        url = self._url(f"/webhooks/{segment(target.application_id)}/{token}{path}")
        return await self._call(_request(method, url, {"user-agent": USER_AGENT}, body, file), token)

    async def acknowledge(self, interaction_id: str, token: str, body: Mapping[str, Any]) -> None:
        url = self._url(f"/interactions/{segment(interaction_id)}/{segment(token)}/callback")
        await self._call(_request("POST", url, {"user-agent": USER_AGENT}, body), segment(token))

    async def _call(self, request: HttpRequest, secret: str = "") -> ApiResult:
        answer = await exchange(self.client.http, request)
        if isinstance(answer, Sent):
            return ApiResult(replace(answer, detail=masked(answer.detail, (secret,))))
        return result(answer)

    def _url(self, path: str) -> str:
        return self._address(BASE).rstrip("/") + path


def _bot(config: DiscordConfig) -> dict[str, str]:
    return {"authorization": f"Bot {config.bot_token}", "user-agent": USER_AGENT}


def _request(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any], file: FormFile | None = None
) -> HttpRequest:
    if file:
        fields = {"payload_json": orjson.dumps(body).decode()}
        return HttpRequest(method, url, headers, fields=fields, files=(file,), timeout=UPLOAD_TIMEOUT)
    return HttpRequest(method, url, headers, json=None if method == "DELETE" else body, timeout=SEND_TIMEOUT)


def result(answer: HttpAnswer) -> ApiResult:
    body = answer.json()
    code = at(body, "code")
    sent = by_status(answer, _reason(answer), ref=text(body, "id"))
    if answer.status == 429:
        wait = at(body, "retry_after")  # in seconds, with fractions
        waits = [wait for wait in (wait, answer.retry_after) if isinstance(wait, int | float) and wait >= 0]
        scope = Scope.ACCOUNT if at(body, "global") is True else Scope.CONVERSATION
        sent = Sent(Outcome.RETRY_AFTER, sent.detail, retry_after=max(waits, default=None), scope=scope)
    elif code == OVERLOADED and sent.outcome is Outcome.PERMANENT:
        sent = replace(sent, outcome=Outcome.TRANSIENT)
    elif sent.outcome is Outcome.SENT and answer.headers.get("x-ratelimit-remaining") == "0":
        sent = replace(sent, retry_after=seconds_in(answer, "x-ratelimit-reset-after"))
    code = code if isinstance(code, int) else 0
    return ApiResult(replace(sent, of_recipient=code in _OF_RECIPIENT), answer.status, code)


def _reason(answer: HttpAnswer) -> str:
    body = answer.json()
    return " ".join(filter(None, (text(body, "code"), text(body, "message"))))
