"""Fetches files that were shared with the bot (https://docs.slack.dev/reference/objects/file-object)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import text
from domain.channels.messages import Attachment, Config
from ports.channels import ChannelDependencies, PlatformError
from ports.http import HttpFailed, HttpRequest

from .api import WebApi, bearer

MAX_DOWNLOAD = 1_000_000_000
FETCH_TIMEOUT = 120.0
_HOSTS = ("slack.com", "slack-files.com")


class Downloads:
    """A file needs the bot's token and the scope files:read; the token goes to Slack's own hosts alone."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi) -> None:
        self._dependencies = dependencies
        self._api = api

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `PlatformError`."""
        address = text(attachment.source, "url") or await self._address(config, attachment)
        if not self._is_slack(address):
            raise PlatformError("Slack: the file lies at an address that is not Slack's; it is not fetched.")
        request = HttpRequest(
            "GET",
            address,
            headers=bearer(config),
            timeout=FETCH_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        first = True
        try:
            async for piece in self._dependencies.http.stream(request):
                if first and _is_sign_in(piece, attachment):
                    raise PlatformError(
                        "Slack: the file is not given out; the bot needs the scope files:read."
                    )
                first = False
                yield piece
        except HttpFailed as error:
            raise PlatformError(f"Slack: {error}") from None

    async def _address(self, config: Config, attachment: Attachment) -> str:
        """Files of other organizations come without an address."""
        found = await self._api.ask(config, "files.info", file=text(attachment.source, "id"))
        return text(found, "file", "url_private_download") or text(found, "file", "url_private")

    def _is_slack(self, address: str) -> bool:
        try:
            given = urlsplit(address)
            own = urlsplit(self._dependencies.address("WORKSPACE_CHAT_API_URL"))
            same_origin = (given.scheme, given.netloc) == (own.scheme, own.netloc)
            host = given.hostname or ""
        except ValueError:
            return False
        slack = any(host == each or host.endswith(f".{each}") for each in _HOSTS)
        return same_origin or (given.scheme == "https" and slack)


def _is_sign_in(piece: bytes, attachment: Attachment) -> bool:
    """Without the scope, Slack answers with its sign-in page and status 200."""
    if "html" in attachment.mime_type:
        return False
    return piece[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))
