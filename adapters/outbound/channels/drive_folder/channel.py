"""The Google Drive folder channel: changed files in, by polling and by push; documents out, into the same folder."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.drive_folder import push
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.base_files import FolderFiles
from adapters.outbound.channels.drive_folder.config import CONFIG, DEFINITION, TARGET, DriveConfig, FileTarget
from adapters.outbound.channels.drive_folder.delivery import Delivery
from adapters.outbound.channels.drive_folder.opening import Opener
from adapters.outbound.channels.drive_folder.polling import FolderPoller
from adapters.outbound.oauth.google import TOKEN_URL, GoogleApi, GoogleError, platform_errors
from domain.channels.messages import Attachment
from domain.channels.model import PlatformAddress
from ports.capabilities import PlatformError, Registration
from ports.channels import Channel, ChannelDependencies
from ports.clock import Clock

BASE = PlatformAddress("DRIVE_FOLDER_API_URL", "https://www.googleapis.com")

WRITING_SCOPES = (
    "https://www.googleapis.com/auth/drive",
    "https://www.googleapis.com/auth/drive.file",
)
"""Any of these lets files be made (https://developers.google.com/workspace/drive/api/reference/rest/v3/files/create)."""
_GONE = 404


@dataclass(frozen=True, slots=True)
class Folder:
    """Registrar, probe and fetcher of the folder."""

    api: GoogleApi
    drive: Drive
    clock: Clock

    async def fetch(self, config: DriveConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `HttpFailed`, `PlatformError`."""
        file_id, export = str(attachment.source["fileId"]), str(attachment.source.get("export") or "")
        with platform_errors():
            async for piece in self.drive.download(config, file_id, export):
                yield piece

    async def probe(self, config: DriveConfig) -> None:
        """Checks that the folder can be read and written to. Raises `PlatformError`."""
        with platform_errors():
            folder = await self.drive.folder(config)
        if text(folder, "mimeType") not in ("", "application/vnd.google-apps.folder"):
            raise PlatformError("folderId names a file, not a folder.")
        if at(folder, "trashed") is True:
            raise PlatformError("The folder is in the trash.")
        if self.api.lacks(config, WRITING_SCOPES):
            raise PlatformError(
                "The refresh token may only read, so that answers are refused: grant it"
                " https://www.googleapis.com/auth/drive."
            )
        if at(folder, "capabilities", "canAddChildren") is False:
            raise PlatformError(
                "The account may only read the folder, so that answers are refused: make it an editor of the folder."
            )

    async def register(self, config: DriveConfig, address: str, kept: Registration) -> Registration:
        """Asks for push notifications where Google can call, else only checks the credentials.

        Idempotent: the same channel asked for twice is one. Keeps the ids by which the channels are stopped.
        Raises `PlatformError`.
        """
        callback = config.webhook_url or address
        if not push.can_be_called(callback):
            await self.probe(config)
            return kept
        channel = push.channel(config, callback, self.clock.now())
        with platform_errors():
            try:
                resource = await self.drive.watch(config, channel)
            except GoogleError as error:
                if push.exists_already(error):
                    return kept
                raise
        return push.with_channel(kept, channel["id"], resource)

    async def unregister(self, config: DriveConfig, kept: Registration) -> None:
        """Stops the notification channels, whichever process made them. Raises `PlatformError`."""
        refused: list[GoogleError] = []
        for channel_id, resource in push.channels_of(kept).items():
            try:
                await self.drive.stop(config, channel_id, resource)
            except GoogleError as error:
                refused += [error] if error.status != _GONE else []
        if refused:
            raise PlatformError(str(refused[0])) from refused[0]

    def supersedes(self, old: DriveConfig, new: DriveConfig) -> bool:
        """Whether a field changed with which the notification channels were made."""
        return _registered_with(old) != _registered_with(new)

    async def registered(self, config: DriveConfig, address: str) -> bool:
        """Google lists no notification channels, so they are asked for again unless Google cannot call."""
        return not push.can_be_called(config.webhook_url or address)


def _registered_with(config: DriveConfig) -> tuple[str, ...]:
    """The fields with which the notification channels are made."""
    credentials = (config.client_id, config.client_secret, config.refresh_token)
    return (*credentials, config.folder_id, config.webhook_url)


def build(dependencies: ChannelDependencies) -> Channel[DriveConfig, FileTarget]:
    api = GoogleApi.build("Google Drive", dependencies, BASE)
    drive = Drive(api)
    delivery = Delivery(drive, dependencies.artifacts)
    folder = Folder(api, drive, dependencies.clock)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE, TOKEN_URL),
        config=CONFIG,
        target=TARGET,
        webhook=push,
        sender=delivery,
        opener=Opener(),
        limits=delivery,
        poller=FolderPoller(drive),
        registrar=folder,
        probe=folder,
        fetcher=folder,
        folder=FolderFiles(drive),
    )
