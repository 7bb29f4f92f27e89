"""The Mattermost server's REST API, version 4, as the bot calls it.

Source: https://developers.mattermost.com/api-documentation/
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.outcomes import by_status, excerpt
from adapters.outbound.http.paths import base_address, segment
from domain.channels.messages import Config, Outcome, Sent
from ports.channels import PlatformError
from ports.http import FormFile, Http, HttpAnswer, HttpFailed, HttpRequest


@dataclass(frozen=True, slots=True)
class Server:
    """One server under one bot's token. The address is the user's, so the address policy applies."""

    http: Http
    config: Config

    async def get(self, path: str, timeout: float = 30.0) -> HttpAnswer:
        return await self.http.send(self._request("GET", path, timeout=timeout))

    async def post(self, path: str, body: Mapping[str, Any], timeout: float = 30.0) -> HttpAnswer:
        return await self.http.send(self._request("POST", path, json=body, timeout=timeout))

    async def respond(self, url: str, body: Mapping[str, Any]) -> HttpAnswer:
        """Posts to a response_url, which the caller has checked to be on this server."""
        headers = {"authorization": f"Bearer {self.config['token']}"}
        return await self.http.send(HttpRequest("POST", url, headers=headers, json=body, user_address=True))

    async def upload(self, channel: str, file: FormFile) -> HttpAnswer:
        return await self.http.send(
            self._request("POST", "/files", fields={"channel_id": channel}, files=[file], timeout=120.0)
        )

    def download(self, file_id: str) -> AsyncIterator[bytes]:
        return self.http.stream(self._request("GET", f"/files/{segment(file_id)}"))

    def _request(self, method: str, path: str, **content: Any) -> HttpRequest:
        return HttpRequest(
            method,
            f"{base_address(str(self.config['SERVER_URL']))}/api/v4{path}",
            headers={"authorization": f"Bearer {self.config['token']}"},
            user_address=True,
            **content,
        )

    async def me(self, timeout: float = 30.0) -> Mapping[str, Any]:
        """The bot's own account. Raises `PlatformError`."""
        return await self._object("/users/me", "the token", timeout)

    async def channel(self, channel: str) -> Mapping[str, Any]:
        """A channel as the bot sees it. Raises `PlatformError`."""
        return await self._object(f"/channels/{segment(channel)}", "channelId")

    async def is_member(self, channel: str) -> bool:
        """Whether the bot is a member; taken for one where the server does not say. Raises `PlatformError`."""
        try:
            answer = await self.get(f"/channels/{segment(channel)}/members/me")
        except HttpFailed as error:
            raise PlatformError(f"The Mattermost server cannot be reached: {error}") from error
        return not (answer.status == 404 and "get_member.missing" in text(answer.json(), "id"))

    async def user(self, user: str) -> Mapping[str, Any]:
        """An account, `is_bot` included. Raises `PlatformError`."""
        return await self._object(f"/users/{segment(user)}", "the id of a user", 5.0)

    async def file_info(self, file_id: str) -> Mapping[str, Any]:
        """What the server knows of a file. Raises `PlatformError`."""
        return await self._object(f"/files/{segment(file_id)}/info", "the file's id", 10.0)

    async def _object(self, path: str, what: str, timeout: float = 30.0) -> Mapping[str, Any]:
        try:
            answer = await self.get(path, timeout)
        except HttpFailed as error:
            raise PlatformError(f"The Mattermost server cannot be reached: {error}") from error
        body = answer.json()
        if not answer.ok or not isinstance(body, dict):
            words = text(body, "message") or excerpt(answer)
            raise PlatformError(f"Mattermost did not take {what}: HTTP {answer.status} {words}".rstrip())
        return body


def outcome(answer: HttpAnswer) -> Sent:
    """How a request ended, in the server's own words; `ref` is the id of what was made."""
    body = answer.json()
    if answer.ok:
        return Sent(Outcome.SENT, ref=text(body, "id"))
    sent = by_status(answer, text(body, "message"))
    if sent.outcome is Outcome.RETRY_AFTER and sent.retry_after is None:
        return Sent(sent.outcome, sent.detail, retry_after=_reset(answer))
    return sent


def _reset(answer: HttpAnswer) -> float | None:
    """Seconds until the limit is lifted, from `X-RateLimit-Reset`."""
    seconds = answer.headers.get("x-ratelimit-reset", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 6 else None
