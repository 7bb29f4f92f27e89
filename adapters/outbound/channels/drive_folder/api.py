"""Requests of the Google Drive API, version 3.

Source: https://developers.google.com/workspace/drive/api/reference/rest/v3
"""

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.net.google import TIMEOUT, GoogleApi
from adapters.outbound.net.urls import segment
from ports.http import HttpRequest

from .config import DriveConfig

FIELDS = (
    "id,name,mimeType,createdTime,modifiedTime,version,md5Checksum,size,webViewLink,appProperties,properties,"
    "lastModifyingUser(displayName,emailAddress)"
)
_FILES = "/drive/v3/files"
_SHARED_DRIVES = {"supportsAllDrives": "true"}
_ALL_DRIVES = {**_SHARED_DRIVES, "includeItemsFromAllDrives": "true"}
_PAGE = "1000"
MOST_ATTACHED, LARGEST_FILE = 10_000_000, 10_000 * 1024 * 1024
"""Bytes of a download for a message; and for a knowledge base, whose own limit is lower."""


class Drive:
    """The Drive of the account that granted the refresh token. All methods raise `GoogleError`."""

    def __init__(self, api: GoogleApi) -> None:
        self._api = api

    async def children(self, config: DriveConfig, page: str = "") -> dict[str, Any]:
        """files.list: a page of what is in the folder and not in the trash."""
        return await self._list(config, "", page)

    async def marked(self, config: DriveConfig, name: str, value: str) -> dict[str, Any]:
        """files.list: the files of the folder that have a property."""
        return await self._list(
            config, f" and appProperties has {{ key='{_escaped(name)}' and value='{_escaped(value)}' }}"
        )

    async def folder(self, config: DriveConfig) -> dict[str, Any]:
        query = {"fields": "id,mimeType,trashed,capabilities(canAddChildren)", **_SHARED_DRIVES}
        return await self._api.get(config, f"{_FILES}/{segment(config.folder_id)}", query)

    async def create(
        self, config: DriveConfig, metadata: Mapping[str, Any], mime_type: str, content: bytes
    ) -> str:
        """files.create in one request, a multipart/related body (RFC 2387); returns the file's id."""
        boundary = f"switchboard-{secrets.token_hex(16)}"
        head = (
            f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{json.dumps(metadata)}\r\n"
            f"--{boundary}\r\nContent-Type: {mime_type}\r\n\r\n"
        )
        query = {"uploadType": "multipart", **_SHARED_DRIVES, "fields": "id"}
        request = HttpRequest(
            "POST",
            self._api.url(f"/upload{_FILES}", query),
            headers={"content-type": f"multipart/related; boundary={boundary}"},
            content=head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
            timeout=5 * TIMEOUT,
        )
        return text(await self._api.send(config, request), "id")

    async def file(self, config: DriveConfig, file_id: str) -> dict[str, Any]:
        query = {"fields": f"{FIELDS},trashed", **_SHARED_DRIVES}
        return await self._api.get(config, f"{_FILES}/{segment(file_id)}", query)

    def download(
        self, config: DriveConfig, file_id: str, export: str, *, whole: bool = False
    ) -> AsyncIterator[bytes]:
        """The bytes of a file; of a Google-native one, exported to the type `export`. `whole`: also of one that is
        too large for a message."""
        query = {"mimeType": export} if export else {"alt": "media", **_SHARED_DRIVES}
        path = f"{_FILES}/{segment(file_id)}{'/export' if export else ''}"
        return self._api.stream(config, path, query, LARGEST_FILE if whole else MOST_ATTACHED)

    async def watch(self, config: DriveConfig, channel: Mapping[str, Any]) -> str:
        """changes.watch: has all changes reported to a channel; returns the id of the watched resource."""
        start = await self._api.get(config, "/drive/v3/changes/startPageToken", _SHARED_DRIVES)
        query = {"pageToken": text(start, "startPageToken"), **_ALL_DRIVES}
        return text(await self._api.post(config, "/drive/v3/changes/watch", channel, query), "resourceId")

    async def stop(self, config: DriveConfig, channel_id: str, resource_id: str) -> None:
        body = {"id": channel_id, "resourceId": resource_id}
        await self._api.post(config, "/drive/v3/channels/stop", body)

    async def _list(self, config: DriveConfig, condition: str, page: str = "") -> dict[str, Any]:
        folder = _escaped(config.folder_id)
        query = {
            "q": f"'{folder}' in parents{condition} and trashed = false",
            "fields": f"nextPageToken,files({FIELDS})",
            "pageSize": _PAGE,
            **_ALL_DRIVES,
            **({"pageToken": page} if page else {}),
        }
        return await self._api.get(config, _FILES, query)


def _escaped(value: str) -> str:
    """A value within the quotes of a search query."""
    return value.replace("\\", "\\\\").replace("'", "\\'")
