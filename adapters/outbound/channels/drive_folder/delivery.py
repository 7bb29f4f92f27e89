"""Answers as files in the folder: the text as a text document, files as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

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
from adapters.outbound.channels.drive_folder.polling import MARK
from adapters.outbound.oauth.google import GoogleError
from domain.channels.messages import Answer, Config, OutboundMessage, Outcome, Sent, Target
from ports.channels import ArtifactReader

MAX_FILE_BYTES = 50 * 1024 * 1024
TEXT = "text/plain"
_DELIVERY = "switchboardDelivery"


def messages(target: Target, answer: Answer) -> Sequence[OutboundMessage]:
    """The text as one document, then each file."""
    name = f"{target['name']} - answer.txt" if target.get("name") else "answer.txt"
    documents = [{"kind": "text", "name": name, "text": answer.text}] if answer.text.strip() else []
    return [OutboundMessage(payload) for payload in (*documents, *file_payloads(answer))]


async def send(drive: Drive, reader: ArtifactReader, config: Config, part: OutboundMessage, key: str) -> Sent:
    """Writes one file, unless an earlier attempt did: the file has the key of its delivery as a property. So trying
    again is safe where the outcome is unknown."""
    name, mime_type, content = await _content(reader, part)
    delivery = hashlib.sha256(key.encode()).hexdigest()[:32]
    metadata = {
        "name": name,
        "parents": [config["folderId"]],
        "mimeType": mime_type,
        "properties": {MARK: "answer"},
        "appProperties": {MARK: "answer", _DELIVERY: delivery},
    }
    try:
        written = items(await drive.marked(config, _DELIVERY, delivery), "files")
        for file in written:
            if text(file, "appProperties", _DELIVERY) == delivery:
                return Sent(Outcome.SENT, ref=text(file, "id"))
        return Sent(Outcome.SENT, ref=await drive.create(config, metadata, mime_type, content))
    except GoogleError as error:
        return repeatable(error.sent)


async def _content(reader: ArtifactReader, part: OutboundMessage) -> tuple[str, str, bytes]:
    """Name, type and bytes of the file to write; for a file that cannot be read, its link."""
    if part.payload["kind"] != FILE:
        return part.payload["name"], TEXT, part.payload["text"].encode()
    artifact = artifact_of(part.payload)
    try:
        return artifact.name, artifact.mime_type, await content_of(reader, artifact, MAX_FILE_BYTES)
    except FileUnavailable:
        return f"{artifact.name}.txt", TEXT, link_text(artifact).encode()
