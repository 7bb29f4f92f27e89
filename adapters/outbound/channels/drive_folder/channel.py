"""The Google Drive folder channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.drive_folder import delivery, polling, push
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.definition import DEFINITION
from adapters.outbound.channels.drive_folder.limits import limits
from adapters.outbound.oauth.google import GoogleApi, GoogleError, platform_errors
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
from domain.channels.typed import RAW
from ports.capabilities import PlatformError, Polled, Registration
from ports.channels import Channel, ChannelDependencies

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
        self._api = GoogleApi.build("Google Drive", dependencies, "DRIVE_FOLDER_API_URL")
        self._drive = Drive(self._api)

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await polling.poll(self._drive, config, cursor, now, since)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return push.receive(config, call)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return delivery.messages(target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await delivery.send(self._drive, self._dependencies.artifacts, config, part, key)

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `HttpFailed`, `PlatformError`."""
        file_id, export = str(attachment.source["fileId"]), str(attachment.source.get("export") or "")
        with platform_errors():
            async for piece in self._drive.download(config, file_id, export):
                yield piece

    async def probe(self, config: Config) -> None:
        """Checks that the folder can be read and written to. Raises `PlatformError`."""
        with platform_errors():
            folder = await self._drive.folder(config)
        if text(folder, "mimeType") not in ("", "application/vnd.google-apps.folder"):
            raise PlatformError("folderId names a file, not a folder.")
        if at(folder, "trashed") is True:
            raise PlatformError("The folder is in the trash.")
        if self._api.lacks(config, WRITING_SCOPES):
            raise PlatformError(
                "The refresh token may only read, so that answers are refused: grant it"
                " https://www.googleapis.com/auth/drive."
            )
        if at(folder, "capabilities", "canAddChildren") is False:
            raise PlatformError(
                "The account may only read the folder, so that answers are refused: make it an editor of the folder."
            )

    async def register(self, config: Config, address: str, kept: Registration) -> Registration:
        """Asks for push notifications where Google can call, else only checks the credentials.

        Idempotent: the same channel asked for twice is one. Keeps the ids by which the channels are stopped.
        Raises `PlatformError`.
        """
        callback = str(config.get("webhookUrl") or address)
        if not push.can_be_called(callback):
            await self.probe(config)
            return kept
        channel = push.channel(config, callback, self._dependencies.clock.now())
        with platform_errors():
            try:
                resource = await self._drive.watch(config, channel)
            except GoogleError as error:
                if push.exists_already(error):
                    return kept
                raise
        return push.with_channel(kept, channel["id"], resource)

    async def unregister(self, config: Config, kept: Registration) -> None:
        """Stops the notification channels, whichever process made them. Raises `PlatformError`."""
        refused: list[GoogleError] = []
        for channel_id, resource in push.channels_of(kept).items():
            try:
                await self._drive.stop(config, channel_id, resource)
            except GoogleError as error:
                refused += [error] if error.status != _GONE else []
        if refused:
            raise PlatformError(str(refused[0])) from refused[0]

    def supersedes(self, old: Config, new: Config) -> bool:
        """Whether a field changed with which the notification channels were made."""
        names = ("clientId", "clientSecret", "refreshToken", "folderId", "webhookUrl")
        return any(old.get(name) != new.get(name) for name in names)

    async def registered(self, config: Config, address: str) -> bool:
        """Google lists no notification channels, so they are asked for again unless Google cannot call."""
        return not push.can_be_called(str(config.get("webhookUrl") or address))


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = DriveFolder(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        sender=channel,
        limits=channel,
        poller=channel,
        registrar=channel,
        probe=channel,
        fetcher=channel,
    )
