"""Answers as files in the folder: the text as a text document, files as they are."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.files import (
    FILE,
    FileUnavailable,
    artifact_of,
    content_of,
    link_text,
)
from adapters.outbound.channels.common.messages import file_payloads
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.config import DriveConfig, FileTarget
from adapters.outbound.channels.drive_folder.polling import MARK
from adapters.outbound.oauth.google import GoogleError
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from ports.channels import ArtifactReader

PER_ACCOUNT = (Quota(3, 1.0),)
"""Files that an account may write (https://developers.google.com/workspace/drive/api/guides/limits)."""
MAX_CONCURRENCY = 4
"""Calls at a time; Google publishes no limit."""
MAX_FILE_BYTES = 50 * 1024 * 1024
TEXT = "text/plain"
_DELIVERY = "switchboardDelivery"


@dataclass(frozen=True, slots=True)
class Delivery:
    drive: Drive
    artifacts: ArtifactReader

    def render(self, config: DriveConfig, target: FileTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """The text as one document, then each file."""
        name = f"{target.name} - answer.txt" if target.name else "answer.txt"
        documents = [{"kind": "text", "name": name, "text": answer.text}] if answer.text.strip() else []
        return [OutboundMessage(payload) for payload in (*documents, *file_payloads(answer))]

    def limits(self, config: DriveConfig, target: FileTarget) -> Limits:
        return Limits(config.refresh_token, per_account=PER_ACCOUNT, max_concurrency=MAX_CONCURRENCY)

    async def send(self, config: DriveConfig, target: FileTarget, message: OutboundMessage, key: str) -> Sent:
        """Writes one file, unless an earlier attempt did: the file has the key of its delivery as a property. So
        trying again is safe where the outcome is unknown."""
        config = replace(config, folder_id=target.folder or config.folder_id)
        name, mime_type, content = await self._file(message)
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
            return repeatable(error.sent)

    async def _file(self, message: OutboundMessage) -> tuple[str, str, bytes]:
        """Name, type and bytes of the file to write; for a file that cannot be read, its link."""
        if message.payload["kind"] != FILE:
            return text(message.payload, "name"), TEXT, text(message.payload, "text").encode()
        artifact = artifact_of(message.payload)
        try:
            return (
                artifact.name,
                artifact.mime_type,
                await content_of(self.artifacts, artifact, MAX_FILE_BYTES),
            )
        except FileUnavailable:
            return f"{artifact.name}.txt", TEXT, link_text(artifact).encode()
