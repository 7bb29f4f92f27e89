"""The Mattermost server's REST API, version 4, as the bot calls it.

Source: https://developers.mattermost.com/api-documentation/
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.client import PlatformClient
from adapters.outbound.channels.common.outcomes import by_status, excerpt, exchange, send
from adapters.outbound.channels.community_chat.config import MattermostConfig
from adapters.outbound.http.paths import base_address, segment
from domain.channels.messages import Outcome, Sent
from ports.http import FormFile, Http, HttpAnswer, HttpRequest

UPLOAD_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """One server under one bot's token. The address is the user's, so the address policy applies."""

    http: Http
    config: MattermostConfig

    async def post(self, path: str, body: Mapping[str, Any], timeout: float = 30.0) -> Sent:
        return await send(self.http, self._request("POST", path, json=body, timeout=timeout), outcome)

    async def respond(self, url: str, body: Mapping[str, Any]) -> Sent:
        """Posts to a response_url, which the caller has checked to be on this server."""
        return await send(self.http, replace(self._request("POST", "", json=body), url=url), outcome)

    async def upload(self, channel: str, file: FormFile) -> HttpAnswer | Sent:
        fields = {"channel_id": channel}
        request = self._request("POST", "/files", fields=fields, files=[file], timeout=UPLOAD_TIMEOUT)
        return await exchange(self.http, request)

    def download(self, file_id: str) -> AsyncIterator[bytes]:
        return self.http.stream(self._request("GET", f"/files/{segment(file_id)}"))

    async def me(self, timeout: float = 30.0) -> Mapping[str, Any]:
        """The bot's own account. Raises `PlatformError`."""
        return await self._read("/users/me", "the token", timeout)

    async def channel(self, channel: str) -> Mapping[str, Any]:
        """A channel as the bot sees it. Raises `PlatformError`."""
        return await self._read(f"/channels/{segment(channel)}", "channelId")

    async def is_member(self, channel: str) -> bool:
        """Whether the bot is a member; true where the server does not say. Raises `PlatformError`."""
        client = PlatformClient(self.http, "Mattermost", excerpt, succeeded=lambda answer: True)
        answer = await client.answer(self._request("GET", f"/channels/{segment(channel)}/members/me"))
        return not (answer.status == 404 and "get_member.missing" in text(answer.json(), "id"))

    async def user(self, user: str) -> Mapping[str, Any]:
        """An account, `is_bot` included. Raises `PlatformError`."""
        return await self._read(f"/users/{segment(user)}", "the id of a user", 5.0)

    async def file_info(self, file_id: str) -> Mapping[str, Any]:
        """The metadata of a file. Raises `PlatformError`."""
        return await self._read(f"/files/{segment(file_id)}/info", "the file's id", 10.0)

    async def _read(self, path: str, subject: str, timeout: float = 30.0) -> Mapping[str, Any]:
        def reason(answer: HttpAnswer) -> str:
            message = text(answer.json(), "message")
            return f"{subject} was refused: HTTP {answer.status} {message or excerpt(answer)}".rstrip()

        client = PlatformClient(self.http, "Mattermost", reason)
        return await client.read(self._request("GET", path, timeout=timeout))

    def _request(self, method: str, path: str, **content: Any) -> HttpRequest:
        return HttpRequest(
            method,
            f"{base_address(self.config.server_url)}/api/v4{path}",
            headers={"authorization": f"Bearer {self.config.token}"},
            user_address=True,
            **content,
        )


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer of the server; `ref` is the id of what was made."""
    body = answer.json()
    sent = by_status(answer, text(body, "message"), ref=text(body, "id"))
    if sent.outcome is Outcome.RETRY_AFTER and sent.retry_after is None:
        return replace(sent, retry_after=_reset(answer))
    return sent


def _reset(answer: HttpAnswer) -> float | None:
    """Seconds until the limit is lifted, from `X-RateLimit-Reset`."""
    seconds = answer.headers.get("x-ratelimit-reset", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 6 else None
