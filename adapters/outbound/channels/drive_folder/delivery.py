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
    file_payload,
    link_text,
)
from adapters.outbound.channels.common.outcomes import by_status, failed
from adapters.outbound.channels.drive_folder.api import Drive
from adapters.outbound.channels.drive_folder.polling import DEFAULT_WAIT, MARK
from adapters.outbound.oauth.google_api import is_rate_limit, words_of
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.messages import Answer, Config, OutboundMessage, Outcome, Sent, Target
from ports.channels import ArtifactReader
from ports.http import HttpAnswer, HttpFailed

MAX_FILE_BYTES = 50 * 1024 * 1024
TEXT = "text/plain"
_DELIVERY = "switchboardDelivery"


def parts(target: Target, answer: Answer) -> Sequence[OutboundMessage]:
    """The text as one document, then one part for each file."""
    name = f"{target['name']} - answer.txt" if target.get("name") else "answer.txt"
    texts = (
        [OutboundMessage({"kind": "text", "name": name, "text": answer.text})] if answer.text.strip() else []
    )
    return [*texts, *(OutboundMessage(file_payload(artifact)) for artifact in answer.artifacts)]


async def send(drive: Drive, reader: ArtifactReader, config: Config, part: OutboundMessage, key: str) -> Sent:
    """Writes one file, unless an earlier try has: the file bears the key of its delivery."""
    name, mime_type, content = await _content(reader, part)
    delivery = hashlib.sha256(key.encode()).hexdigest()[:32]
    try:
        before = await drive.marked(config, _DELIVERY, delivery)
        if not before.ok:
            return _outcome(before)
        written = [
            text(each, "id")
            for each in items(before.json(), "files")
            if text(each, "appProperties", _DELIVERY) == delivery
        ]
        if written:
            return Sent(Outcome.SENT, ref=written[0])
        metadata = {
            "name": name,
            "parents": [config["folderId"]],
            "mimeType": mime_type,
            "properties": {MARK: "answer"},
            "appProperties": {MARK: "answer", _DELIVERY: delivery},
        }
        return _outcome(await drive.create(config, metadata, mime_type, content))
    except TokenRefused as error:
        return Sent(Outcome.PERMANENT, str(error))
    except TokenUnavailable as error:
        waits = Outcome.RETRY_AFTER if error.retry_after is not None else Outcome.TRANSIENT
        return Sent(waits, str(error), retry_after=error.retry_after)
    except HttpFailed as error:
        return _not_doubled(failed(error))


def _not_doubled(sent: Sent) -> Sent:
    """A file that may have been written is found by its key, so trying again is safe."""
    return Sent(Outcome.TRANSIENT, sent.detail) if sent.outcome is Outcome.UNKNOWN else sent


async def _content(reader: ArtifactReader, part: OutboundMessage) -> tuple[str, str, bytes]:
    """Name, type and bytes of what is written; a file that cannot be read is written as its link."""
    if part.payload["kind"] != FILE:
        return part.payload["name"], TEXT, part.payload["text"].encode()
    artifact = artifact_of(part.payload)
    try:
        return artifact.name, artifact.mime_type, await content_of(reader, artifact, MAX_FILE_BYTES)
    except FileUnavailable:
        return f"{artifact.name}.txt", TEXT, link_text(artifact).encode()


def _outcome(answer: HttpAnswer) -> Sent:
    words = words_of(answer, "Google Drive")
    if is_rate_limit(answer):
        return Sent(Outcome.RETRY_AFTER, words, retry_after=answer.retry_after or DEFAULT_WAIT)
    return by_status(answer, words, ref=text(answer.json(), "id"))
