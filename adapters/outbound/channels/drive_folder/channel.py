"""The Google Drive folder channel: changed files in, by polling and by push; documents out, into the same folder."""

import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from adapters.outbound.channels.common import addresses, files, messages, outcomes
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.net.google import TOKEN_URL, GoogleApi, GoogleError, platform_errors
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.capabilities import Opened, OpenRequest, PlatformError, Registration
from ports.channels import ArtifactReader, Channel, ChannelDependencies
from ports.system import Clock

from . import push
from .api import Drive
from .config import CONFIG, DEFINITION, TARGET, DriveConfig, FileTarget
from .files import MARK, Folder

_ADDRESS = re.compile(r"[A-Za-z0-9_-]{1,200}")
BASE = PlatformAddress("DRIVE_FOLDER_API_URL", "https://www.googleapis.com")

WRITING_SCOPES = ("https://www.googleapis.com/auth/drive", "https://www.googleapis.com/auth/drive.file")
"""Any of these lets files be made (https://developers.google.com/workspace/drive/api/reference/rest/v3/files/create)."""
_GONE = 404
PER_ACCOUNT = (Quota(3, 1.0),)
"""Files that an account may write (https://developers.google.com/workspace/drive/api/guides/limits)."""
MAX_CONCURRENCY = 4
"""Calls at a time; Google publishes no limit."""
MAX_FILE_BYTES = 50 * 1024 * 1024
TEXT = "text/plain"
_DELIVERY = "switchboardDelivery"


@dataclass(frozen=True, slots=True)
class DriveFolder:
    """The capabilities of the channel but for reading the folder."""

    api: GoogleApi
    drive: Drive
    artifacts: ArtifactReader
    clock: Clock
    address: str = "the id of a Google Drive folder: the last part of its address in the browser"

    def default_address(self, config: DriveConfig) -> str:
        return config.folder_id

    async def open(self, config: DriveConfig, request: OpenRequest) -> Opened[FileTarget]:
        """The session is the folder, as that of the changes in it."""
        if request.to == config.folder_id:
            return Opened(config.folder_id, FileTarget())
        folder = addresses.read_address(_ADDRESS, request.to, self.address)[0]
        return Opened(folder, FileTarget(folder=folder))

    def render(self, config: DriveConfig, target: FileTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """The text as one document, then each file."""
        name = f"{target.name} - answer.txt" if target.name else "answer.txt"
        documents = [{"kind": "text", "name": name, "text": answer.text}] if answer.text.strip() else []
        return [OutboundMessage(payload) for payload in (*documents, *messages.file_payloads(answer))]

    def limits(self, config: DriveConfig, target: FileTarget) -> Limits:
        return Limits(config.refresh_token, per_account=PER_ACCOUNT, max_concurrency=MAX_CONCURRENCY)

    async def send(self, config: DriveConfig, target: FileTarget, message: OutboundMessage, key: str) -> Sent:
        """Writes one file, unless an earlier attempt did: the file has the key of its delivery as a property. So
        trying again is safe where the outcome is unknown."""
        config = replace(config, folder_id=target.folder or config.folder_id)
        if message.payload["kind"] == files.FILE:
            artifact = files.artifact_of(message.payload)
            name, mime_type = artifact.name, artifact.mime_type
            try:
                content = await files.content_of(self.artifacts, artifact, MAX_FILE_BYTES)
            except files.FileUnavailable:
                name, mime_type, content = f"{name}.txt", TEXT, files.link_text(artifact).encode()
        else:
            name, mime_type = text(message.payload, "name"), TEXT
            content = text(message.payload, "text").encode()
        delivery = hashlib.sha256(key.encode()).hexdigest()[:32]
        metadata = {
            "name": name,
            "parents": [config.folder_id],
            "mimeType": mime_type,
            "properties": {MARK: "answer"},
            "appProperties": {MARK: "answer", _DELIVERY: delivery},
        }
        try:
            written = items(await self.drive.marked(config, _DELIVERY, delivery), "files")
            for file in written:
                if text(file, "appProperties", _DELIVERY) == delivery:
                    return Sent(Outcome.SENT, ref=text(file, "id"))
            return Sent(Outcome.SENT, ref=await self.drive.create(config, metadata, mime_type, content))
        except GoogleError as error:
            return outcomes.repeatable(error.sent)

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
        if not addresses.named_host(callback, "https"):
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
        """Return True if a field changed with which the notification channels were made."""
        names = ("client_id", "client_secret", "refresh_token", "folder_id", "webhook_url")
        return any(getattr(old, name) != getattr(new, name) for name in names)

    async def registered(self, config: DriveConfig, address: str) -> bool:
        """Google lists no notification channels, so they are asked for again unless Google cannot call."""
        return not addresses.named_host(config.webhook_url or address, "https")


def build(dependencies: ChannelDependencies) -> Channel[DriveConfig, FileTarget]:
    api = GoogleApi.build("Google Drive", dependencies, BASE)
    drive = Drive(api)
    channel, folder = DriveFolder(api, drive, dependencies.artifacts, dependencies.clock), Folder(drive)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE, TOKEN_URL),
        config=CONFIG,
        target=TARGET,
        webhook=push,
        sender=channel,
        opener=channel,
        limits=channel,
        poller=folder,
        registrar=channel,
        probe=channel,
        fetcher=channel,
        folder=folder,
    )
