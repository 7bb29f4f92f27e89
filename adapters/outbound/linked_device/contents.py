"""What is in a message of the library, which hands on the messaging service's own protobuf messages."""

from __future__ import annotations

import base64
import mimetypes
from typing import Any

MEDIA = {
    "imageMessage": "image",
    "videoMessage": "video",
    "ptvMessage": "video",
    "audioMessage": "audio",
    "documentMessage": "document",
}

WRAPPERS = (
    "ephemeralMessage",
    "viewOnceMessage",
    "viewOnceMessageV2",
    "viewOnceMessageV2Extension",
    "documentWithCaptionMessage",
    "associatedChildMessage",
)
"""Messages that hold another one: disappearing, to be seen once, with a caption, part of an album."""

MEDIA_ALBUM = 1
"""`MessageAssociation.AssociationType`: the message is a picture or video of an album."""


def _inner(message: Any) -> Any:
    """The message inside wrappers for disappearing messages and captions."""
    for name in WRAPPERS:
        if message.HasField(name):
            return _inner(getattr(message, name).message)
    return message


def text_of(message: Any) -> str:
    """What is written in a message, or below its file."""
    inner = _inner(message)
    if inner.conversation:
        return str(inner.conversation)
    if inner.HasField("extendedTextMessage"):
        return str(inner.extendedTextMessage.text)
    for name in MEDIA:
        if inner.HasField(name) and hasattr(getattr(inner, name), "caption"):
            return str(getattr(inner, name).caption)
    return ""


def album_of(message: Any) -> str:
    """The id of the message that announced the album that a picture or video belongs to; empty for others."""
    for each in (message, _inner(message)):
        if each.HasField("messageContextInfo") and each.messageContextInfo.HasField("messageAssociation"):
            association = each.messageContextInfo.messageAssociation
            if association.associationType == MEDIA_ALBUM:
                return str(association.parentMessageKey.ID)
    return ""


def media_of(message: Any) -> list[dict[str, Any]]:
    """The files of a message, each with what is needed to download it."""
    inner = _inner(message)
    found = []
    for name, kind in MEDIA.items():
        if inner.HasField(name):
            media = getattr(inner, name)
            mime_type = media.mimetype.partition(";")[0].strip() or "application/octet-stream"
            found.append(
                {
                    "name": getattr(media, "fileName", "")
                    or kind + (mimetypes.guess_extension(mime_type) or ""),
                    "mime": mime_type,
                    "size": media.fileLength or None,
                    "message": base64.b64encode(inner.SerializeToString()).decode(),
                }
            )
    return found


def seconds(timestamp: int) -> float:
    """Some versions tell milliseconds."""
    return timestamp / 1000 if timestamp > 10**11 else float(timestamp)
