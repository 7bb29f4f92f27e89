"""Fetches files that were shared with the bot (https://docs.slack.dev/reference/objects/file-object)."""

from collections.abc import AsyncIterator

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.client import DOWNLOAD_TIMEOUT, is_address_of
from domain.channels.messages import Attachment
from ports.capabilities import PlatformError
from ports.http import HttpRequest

from .api import DOMAINS, WebApi, bearer
from .config import SlackConfig
from .events import attachment_of

MAX_DOWNLOAD = 1_000_000_000


class Downloads:
    """The token is sent to Slack's own hosts alone."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def fetch(self, config: SlackConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file, for which the bot needs the scope files:read. Raises `PlatformError`."""
        url = text((await self.described(config, attachment)).source, "url")
        if not is_address_of(url, self._api.base, DOMAINS):
            raise PlatformError("Slack: the file lies at an address that is not Slack's; it is not fetched.")
        request = HttpRequest(
            "GET",
            url,
            headers=bearer(config.bot_token),
            timeout=DOWNLOAD_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        first = True
        async for piece in self._api.client.download(request):
            if first and _is_sign_in(piece, attachment):
                raise PlatformError("Slack: the file is not given out; the bot needs the scope files:read.")
            first = False
            yield piece

    async def described(self, config: SlackConfig, attachment: Attachment) -> Attachment:
        """Files of other organizations come as an id alone
        (https://docs.slack.dev/reference/objects/file-object/#slack_connect_files). Raises `PlatformError`."""
        if text(attachment.source, "url"):
            return attachment
        info = await self._api.read(config, "files.info", file=text(attachment.source, "id"))
        return attachment_of(at(info, "file")) or attachment


def _is_sign_in(piece: bytes, attachment: Attachment) -> bool:
    """Without the scope, Slack answers with its sign-in page and status 200."""
    if "html" in attachment.mime_type:
        return False
    return piece[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))
