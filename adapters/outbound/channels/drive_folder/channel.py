"""The Google Drive folder channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.drive_folder import delivery, polling, push
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.definition import DEFINITION
from adapters.outbound.channels.drive_folder.limits import limits
from adapters.outbound.oauth.google import GoogleTokens
from adapters.outbound.oauth.google_api import GoogleApi, words_of
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies, PlatformError, Polled, PollFailed, Registration
from ports.http import HttpAnswer

WRITING_SCOPES = (
    "https://www.googleapis.com/auth/drive",
    "https://www.googleapis.com/auth/drive.file",
)
"""Any of these lets files be made (https://developers.google.com/workspace/drive/api/reference/rest/v3/files/create)."""
_GONE = 404


class DriveFolder:
    """Changed files in, by polling and by push; documents out, into the same folder."""

    default_interval_minutes = 10.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._tokens = GoogleTokens(dependencies.http, dependencies.clock, dependencies.address)
        self._api = GoogleApi(dependencies.http, self._tokens)

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await polling.poll(self._drive, config, cursor, now, since)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return push.receive(config, call)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return delivery.parts(target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await delivery.send(self._drive, self._dependencies.artifacts, config, part, key)

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `HttpFailed`, `PlatformError` when the credentials are not taken."""
        file_id, export = str(attachment.source["fileId"]), str(attachment.source.get("export") or "")
        try:
            async for piece in self._drive.download(config, file_id, export):
                yield piece
        except (TokenRefused, TokenUnavailable) as error:
            raise PlatformError(str(error)) from error

    async def probe(self, config: Config) -> None:
        """Reads the folder, and whether answers may be put into it. Raises `PlatformError`."""
        folder = await self._asked(self._drive.about_folder(config))
        if text(folder, "mimeType") not in ("", "application/vnd.google-apps.folder"):
            raise PlatformError("folderId names a file, not a folder.")
        if at(folder, "trashed") is True:
            raise PlatformError("The folder is in the trash.")
        if self._tokens.lacks(config, WRITING_SCOPES):
            raise PlatformError(
                "The refresh token may only read, so that answers are refused: grant it"
                " https://www.googleapis.com/auth/drive."
            )
        if at(folder, "capabilities", "canAddChildren") is False:
            raise PlatformError(
                "The account may only read the folder, so that answers are refused: make it an editor of the folder."
            )

    async def register(self, config: Config, address: str, kept: Registration) -> Registration:
        """Asks for push notifications where Google can call, else only tries the credentials.

        Idempotent: the same channel asked for twice is one. Keeps the ids by which the channels are stopped.
        Raises `PlatformError`.
        """
        reported_to = str(config.get("webhookUrl") or address)
        if not push.can_be_called(reported_to):
            await self.probe(config)
            return kept
        channel = push.channel(config, reported_to, self._dependencies.clock.now())
        resource = await self._watch(config, channel)
        return push.remembered(kept, channel["id"], resource) if resource else kept

    async def unregister(self, config: Config, kept: Registration) -> None:
        """Stops the notification channels, whichever process made them. Raises `PlatformError`."""
        refusals = []
        for channel_id, resource in push.known(kept).items():
            answer = await self._answered(self._drive.stop(config, channel_id, resource))
            if not answer.ok and answer.status != _GONE:
                refusals.append(words_of(answer, "Google Drive"))
        if refusals:
            raise PlatformError(refusals[0])

    def supersedes(self, old: Config, new: Config) -> bool:
        """Channels are made with the credentials, for an address, and prove themselves by both."""
        names = ("clientId", "clientSecret", "refreshToken", "folderId", "webhookUrl")
        return any(old.get(name) != new.get(name) for name in names)

    async def registered(self, config: Config, address: str) -> bool:
        """Google lists no notification channels, so they are asked for again unless Google cannot call."""
        return not push.can_be_called(str(config.get("webhookUrl") or address))

    async def _watch(self, config: Config, channel: Mapping[str, Any]) -> str:
        """The id of what is watched; empty when the channel is there already."""
        start = await self._asked(self._drive.start_page_token(config))
        answer = await self._answered(self._drive.watch(config, text(start, "startPageToken"), channel))
        if answer.ok:
            return text(answer.json(), "resourceId")
        if push.is_there_already(answer.json()):
            return ""
        raise PlatformError(words_of(answer, "Google Drive"))

    async def _asked(self, call: Awaitable[HttpAnswer]) -> Mapping[str, Any]:
        answer = await self._answered(call)
        if not answer.ok:
            raise PlatformError(words_of(answer, "Google Drive"))
        body = answer.json()
        return body if isinstance(body, dict) else {}

    async def _answered(self, call: Awaitable[HttpAnswer]) -> HttpAnswer:
        try:
            return await polling.asked(call)
        except PollFailed as error:
            raise PlatformError(str(error)) from error

    @property
    def _drive(self) -> Drive:
        return Drive(self._api, self._dependencies.address("DRIVE_FOLDER_API_URL"))


def build(dependencies: ChannelDependencies) -> DriveFolder:
    """The channel, ready for use."""
    return DriveFolder(dependencies)
