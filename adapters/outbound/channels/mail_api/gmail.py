"""Calls of the Gmail API v1 (https://developers.google.com/workspace/gmail/api/reference/rest)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.http.paths import segment
from adapters.outbound.oauth import google_api
from adapters.outbound.oauth.google import GoogleTokens
from adapters.outbound.oauth.google_api import GoogleApi
from domain.channels.messages import Config
from ports.http import Http, HttpAnswer, HttpRequest

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer: a mail of 36 MB in base64."""


class Gmail:
    """The mailbox of the account that granted the refresh token."""

    def __init__(self, http: Http, tokens: GoogleTokens, address: Callable[[str], str]) -> None:
        self._api = GoogleApi(http, tokens)
        self._address = address

    async def profile(self, config: Config) -> HttpAnswer:
        """getProfile: the mail address and the present history position."""
        return await self._get(config, "profile")

    async def history(self, config: Config, start: str, page: str) -> HttpAnswer:
        """history.list: what was added to the inbox since a position; 404 when it is too old."""
        query = {
            "startHistoryId": start,
            "historyTypes": "messageAdded",
            "labelId": "INBOX",
            "maxResults": "50",
        }
        return await self._get(config, "history", query | ({"pageToken": page} if page else {}))

    async def search(self, config: Config, query: str, page: str) -> HttpAnswer:
        """messages.list: ids of mails that match a search, the newest first."""
        parameters = {"q": query, "maxResults": "50"}
        return await self._get(config, "messages", parameters | ({"pageToken": page} if page else {}))

    async def message(self, config: Config, message_id: str) -> HttpAnswer:
        """messages.get in full."""
        return await self._get(config, f"messages/{segment(message_id)}", {"format": "full"})

    async def attachment(self, config: Config, message_id: str, attachment_id: str) -> HttpAnswer:
        """messages.attachments.get."""
        path = f"messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        return await self._get(config, path)

    async def send(self, config: Config, body: Mapping[str, Any]) -> HttpAnswer:
        """messages.send."""
        return await self._call(
            config, HttpRequest("POST", self._url("messages/send"), json=body, timeout=60)
        )

    async def _get(self, config: Config, path: str, query: Mapping[str, str] | None = None) -> HttpAnswer:
        url = self._url(path) + (f"?{urlencode(query)}" if query else "")
        return await self._call(config, HttpRequest("GET", url, timeout=60, max_bytes=MAX_ANSWER))

    def _url(self, path: str) -> str:
        return f"{self._address('MAIL_API_URL').rstrip('/')}/gmail/v1/users/me/{path}"

    async def _call(self, config: Config, request: HttpRequest) -> HttpAnswer:
        return await self._api.send(config, request)


def words_of(answer: HttpAnswer) -> str:
    """Gmail's own words for a failure."""
    return google_api.words_of(answer, "Gmail")
