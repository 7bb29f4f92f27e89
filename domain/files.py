"""Files of messages: stored, fetched from platforms, and published."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar
from urllib.parse import quote, urlsplit

from domain.channels.answers import Artifact
from domain.channels.messages import Attachment, Event
from domain.channels.typed import ChannelConfig
from domain.delivery.concurrency import ReadLimiter
from domain.file_names import MAX_FILE_NAME, file_name, mime_type
from domain.instances.model import Activity, Instance
from domain.refusals import INTERNAL, Fault, NotFound, StorageFull, TooLarge, Unavailable
from domain.routing.model import InputFile, ResultArtifact
from ports.capabilities import AttachmentFetcher, PlatformError
from ports.channels import AnyChannel, Channels
from ports.files import (
    BlobReferences,
    Blobs,
    FetchedFiles,
    FilePlace,
    FileTokens,
    LeftOut,
    OpenFile,
    SharedFile,
    StoredBlob,
)
from ports.instances import HealthStore
from ports.system import Clock

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_FILES = 20


def file_fault(name: str, mime_type: str, url: str | None, data: bytes | None) -> Fault | None:
    """Returns the fault of a file that is given by its address or by its bytes, or None. The field is empty for a
    fault of the whole file."""
    if not name.strip() or len(name) > MAX_FILE_NAME or not name.isprintable():
        return Fault("name", "is not the name of a file")
    if len(mime_type) > MAX_FILE_NAME or not mime_type.isascii() or not mime_type.isprintable():
        return Fault("mimeType", "is not a media type")
    if (url is None) == (data is None):
        return Fault("", "needs either url or dataBase64")
    if url is not None:
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or " " in url or not url.isprintable():
            return Fault("url", "is not an http or https address")
    return None


MOST_FILES = 20
"""Attachments of one message that are fetched."""

FETCH_SECONDS = 60.0
"""The longest that fetching one attachment may take."""

FILES_PATH = "/api/agent/files"


class StoredFiles:
    """Stores bytes, and makes and serves signed addresses of them, which are valid for `life`."""

    def __init__(
        self,
        blobs: Blobs,
        references: BlobReferences,
        tokens: FileTokens,
        clock: Clock,
        base: str,
        max_bytes: int,
        life: timedelta,
    ) -> None:
        self._blobs = blobs
        self._references = references
        self._tokens = tokens
        self._clock = clock
        self._base = base.rstrip("/")
        self._max_bytes = max_bytes
        self._life = life

    async def store(
        self, content: AsyncIterator[bytes], name: str, kind: str, place: FilePlace
    ) -> tuple[SharedFile, int]:
        """The stored file and its size in bytes. Raises `TooLarge`, `NotFound` (the message was erased)."""

        async def record(blob: StoredBlob) -> None:
            await self.record(SharedFile(blob.key, name, kind), blob.size, place)

        blob = await self._blobs.put(content, self._max_bytes, record)
        return SharedFile(blob.key, name, kind), blob.size

    async def record(self, file: SharedFile, size: int, place: FilePlace) -> None:
        """Records a stored file as one of a message. Raises `NotFound` (the message was erased)."""
        await self._references.add_message_file(place, file, size)

    def address(self, file: SharedFile, until: datetime | None = None) -> str:
        """The address of a file; `until`: at the end of its own life."""
        token = self._tokens.sign(file, until or self._clock.now() + self._life)
        return f"{self._base}{FILES_PATH}/{token}/{quote(file.name, safe='', errors='replace')}"

    async def open(self, token: str) -> OpenFile:
        file = self._tokens.read(token, self._clock.now())
        if file is None:
            raise NotFound("this address is invalid or has expired")
        if file.record is not None and not await self._references.is_in_base(file.record):
            raise NotFound("this file was deleted")
        size = await self._blobs.size(file.blob)
        return OpenFile(file.name, file.mime_type, size, self._blobs.open(file.blob))


@dataclass(eq=False)
class MessageFilesService:
    stored: StoredFiles
    channels: Channels
    health: HealthStore
    reads: ReadLimiter

    async def fetch(self, instance: Instance, event: Event, place: FilePlace) -> FetchedFiles:
        channel = self.channels.find(instance.channel_id) if event.attachments else None
        if channel is None or channel.fetcher is None:
            return FetchedFiles()
        files: list[InputFile] = []
        recordings: list[SharedFile] = []
        left_out: list[LeftOut] = []
        for attachment in event.attachments[:MOST_FILES]:
            try:
                shared, size = await self._fetch(channel, channel.fetcher, instance, attachment, place)
                files.append(InputFile(shared.name, shared.mime_type, size, self.stored.address(shared)))
                recordings += [shared] if attachment.is_voice else []
            except Exception as error:  # noqa: BLE001 - logged below
                left_out.append(_left_out(attachment, error))
                log.warning(
                    "an attachment was not fetched: %s", left_out[-1].reason, extra={"instance": instance.id}
                )
        failed = next((file.reason for file in left_out if not file.by_limit), "")
        if failed:
            await self.health.failed(instance.id, Activity.PROCESSING, f"fetching an attachment: {failed}")
        too_many = TooLarge(f"a message may have {MOST_FILES} files at most")
        left_out += [_left_out(attachment, too_many) for attachment in event.attachments[MOST_FILES:]]
        return FetchedFiles(files, not failed, recordings, left_out)

    async def _fetch(
        self,
        channel: AnyChannel,
        fetcher: AttachmentFetcher[ChannelConfig],
        instance: Instance,
        attachment: Attachment,
        place: FilePlace,
    ) -> tuple[SharedFile, int]:
        """The stored file and its size in bytes."""
        config = channel.config.load(instance.config)
        async with self.reads.slot(instance, channel), asyncio.timeout(FETCH_SECONDS):
            if channel.describer:
                attachment = await channel.describer.described(config, attachment)
            name, kind = file_name(attachment.name or "file"), mime_type(attachment.mime_type)
            return await self.stored.store(fetcher.fetch(config, attachment), name, kind, place)

    async def publish(self, artifacts: Sequence[ResultArtifact], place: FilePlace) -> Sequence[Artifact]:
        published = []
        for artifact in artifacts:
            name, kind = file_name(artifact.name), mime_type(artifact.mime_type)
            if artifact.data is None:
                published.append(Artifact(name, kind, artifact.url or ""))
            else:
                file, size = await self.stored.store(one_piece(artifact.data), name, kind, place)
                published.append(Artifact(name, kind, self.stored.address(file), file.blob, size))
        return published

    async def share(self, artifacts: Sequence[Artifact], place: FilePlace) -> None:
        for artifact in artifacts:
            if artifact.blob is not None:
                file = SharedFile(artifact.blob, artifact.name, artifact.mime_type)
                await self.stored.record(file, artifact.size or 0, place)


async def one_piece(data: T) -> AsyncIterator[T]:
    yield data


def _left_out(attachment: Attachment, error: Exception) -> LeftOut:
    """Raises the error if the file can be fetched later."""
    if isinstance(error, Unavailable) and not isinstance(error, StorageFull):
        raise error
    name = file_name(attachment.name or "file")
    reason = INTERNAL  # the message of an unknown error may hold a secret
    if isinstance(error, TimeoutError):
        reason = "the platform took too long"
    elif isinstance(error, (PlatformError, TooLarge, StorageFull)):
        reason = str(error)
    return LeftOut(name, attachment.size, reason, isinstance(error, TooLarge))
