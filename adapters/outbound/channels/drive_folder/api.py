"""Calls of the Google Drive API, version 3.

Source: https://developers.google.com/workspace/drive/api/reference/rest/v3
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.http.paths import segment
from adapters.outbound.oauth.google_api import GoogleApi
from domain.channels.messages import Config
from ports.http import HttpAnswer, HttpRequest

FIELDS = (
    "id,name,mimeType,createdTime,modifiedTime,version,md5Checksum,size,webViewLink,appProperties,properties,"
    "lastModifyingUser(displayName,emailAddress)"
)
_SHARED = {"supportsAllDrives": "true", "includeItemsFromAllDrives": "true"}
_PAGE = "1000"
_MAX_ANSWER = 64 * 1024 * 1024
_TIMEOUT = 60.0
_UPLOAD_TIMEOUT = 300.0


class Drive:
    """The Drive of the account that granted the refresh token. All calls raise as `GoogleApi.send`."""

    def __init__(self, api: GoogleApi, base: str) -> None:
        self._api = api
        self._base = base.rstrip("/")

    async def children(self, config: Config, page: str = "") -> HttpAnswer:
        """files.list: a page of what is in the folder and not in the trash."""
        return await self._list(config, f"{_inside(config)} and trashed = false", page)

    async def marked(self, config: Config, name: str, value: str) -> HttpAnswer:
        """files.list: what in the folder bears a property of ours."""
        has = f"appProperties has {{ key='{_escaped(name)}' and value='{_escaped(value)}' }}"
        return await self._list(config, f"{_inside(config)} and {has} and trashed = false", "")

    async def about_folder(self, config: Config) -> HttpAnswer:
        """files.get of the folder."""
        query = urlencode(
            {"fields": "id,mimeType,trashed,capabilities(canAddChildren)", "supportsAllDrives": "true"}
        )
        return await self._get(config, f"/drive/v3/files/{segment(config['folderId'])}?{query}")

    async def create(
        self, config: Config, metadata: Mapping[str, Any], mime_type: str, content: bytes
    ) -> HttpAnswer:
        """files.create in one request: the metadata and the content."""
        boundary = f"switchboard-{secrets.token_hex(16)}"
        body = _related(boundary, metadata, mime_type, content)
        query = urlencode({"uploadType": "multipart", "supportsAllDrives": "true", "fields": "id"})
        request = HttpRequest(
            "POST",
            f"{self._base}/upload/drive/v3/files?{query}",
            headers={"content-type": f"multipart/related; boundary={boundary}"},
            content=body,
            timeout=_UPLOAD_TIMEOUT,
        )
        return await self._api.send(config, request)

    def download(self, config: Config, file_id: str, export: str) -> AsyncIterator[bytes]:
        """The bytes of a file; of a Google-native one, exported to the type `export`."""
        path = f"/drive/v3/files/{segment(file_id)}"
        query = {"mimeType": export} if export else {"alt": "media", "supportsAllDrives": "true"}
        url = f"{self._base}{path}{'/export' if export else ''}?{urlencode(query)}"
        return self._api.stream(config, HttpRequest("GET", url, timeout=_UPLOAD_TIMEOUT))

    async def start_page_token(self, config: Config) -> HttpAnswer:
        """changes.getStartPageToken."""
        return await self._get(config, "/drive/v3/changes/startPageToken?supportsAllDrives=true")

    async def watch(self, config: Config, page: str, channel: Mapping[str, Any]) -> HttpAnswer:
        """changes.watch: have all changes reported to a channel."""
        url = f"{self._base}/drive/v3/changes/watch?{urlencode({'pageToken': page, **_SHARED})}"
        return await self._api.send(config, HttpRequest("POST", url, json=channel, timeout=_TIMEOUT))

    async def stop(self, config: Config, channel_id: str, resource_id: str) -> HttpAnswer:
        """channels.stop."""
        body = {"id": channel_id, "resourceId": resource_id}
        url = f"{self._base}/drive/v3/channels/stop"
        return await self._api.send(config, HttpRequest("POST", url, json=body, timeout=_TIMEOUT))

    async def _list(self, config: Config, query: str, page: str) -> HttpAnswer:
        parameters = {"q": query, "fields": f"nextPageToken,files({FIELDS})", "pageSize": _PAGE, **_SHARED}
        if page:
            parameters["pageToken"] = page
        return await self._get(config, f"/drive/v3/files?{urlencode(parameters)}")

    async def _get(self, config: Config, path: str) -> HttpAnswer:
        request = HttpRequest("GET", f"{self._base}{path}", timeout=_TIMEOUT, max_bytes=_MAX_ANSWER)
        return await self._api.send(config, request)


def _inside(config: Config) -> str:
    return f"'{_escaped(str(config['folderId']))}' in parents"


def _escaped(text: str) -> str:
    """A text within the quotes of a search query."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _related(boundary: str, metadata: Mapping[str, Any], mime_type: str, content: bytes) -> bytes:
    """A multipart/related body (RFC 2387): metadata as JSON, then the content."""
    head = json.dumps(metadata).encode()
    limit = f"--{boundary}".encode()
    return b"\r\n".join(
        [
            limit,
            b"Content-Type: application/json; charset=UTF-8",
            b"",
            head,
            limit,
            f"Content-Type: {mime_type}".encode(),
            b"",
            content,
            limit + b"--",
            b"",
        ]
    )
