"""Requests of the Gmail API v1 (https://developers.google.com/workspace/gmail/api/reference/rest)."""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.mail_api.config import GmailConfig
from adapters.outbound.http.paths import segment
from adapters.outbound.oauth.google import GoogleApi

_ROOT = "/gmail/v1/users/me/"


class Gmail:
    """The mailbox of the account that granted the refresh token. All methods raise `GoogleError`."""

    def __init__(self, api: GoogleApi) -> None:
        self._api = api

    async def profile(self, config: GmailConfig) -> dict[str, Any]:
        """getProfile: the mail address and the present history id."""
        return await self._api.get(config, f"{_ROOT}profile")

    async def history(self, config: GmailConfig, start: str, page: str) -> dict[str, Any]:
        """history.list: what was added to the inbox since a history id; 404 when it is too old."""
        query = {
            "startHistoryId": start,
            "historyTypes": "messageAdded",
            "labelId": "INBOX",
            "maxResults": "50",
        }
        return await self._list(config, "history", query, page)

    async def search(self, config: GmailConfig, query: str, page: str) -> dict[str, Any]:
        """messages.list: ids of mails that match a search, the newest first."""
        return await self._list(config, "messages", {"q": query, "maxResults": "50"}, page)

    async def message(self, config: GmailConfig, message_id: str, format: str = "full") -> dict[str, Any]:
        """messages.get: the mail taken apart ("full"), or its bytes ("raw")."""
        return await self._api.get(config, f"{_ROOT}messages/{segment(message_id)}", {"format": format})

    async def attachment(self, config: GmailConfig, message_id: str, attachment_id: str) -> dict[str, Any]:
        """messages.attachments.get."""
        path = f"{_ROOT}messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        return await self._api.get(config, path)

    async def send(self, config: GmailConfig, body: Mapping[str, Any]) -> dict[str, Any]:
        """messages.send."""
        return await self._api.post(config, f"{_ROOT}messages/send", body)

    async def _list(
        self, config: GmailConfig, path: str, query: Mapping[str, str], page: str
    ) -> dict[str, Any]:
        return await self._api.get(config, _ROOT + path, {**query, **({"pageToken": page} if page else {})})
