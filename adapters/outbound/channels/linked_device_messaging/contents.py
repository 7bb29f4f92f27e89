"""Reads the messages of the library, which are the messaging service's own protobuf messages."""

import base64
from typing import Any

from adapters.outbound.channels.common.contents import file_name

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
    for name in WRAPPERS:
        if message.HasField(name):
            return _inner(getattr(message, name).message)
    return message


def text_of(message: Any) -> str:
    """The text of a message, or the caption of its file."""
    inner = _inner(message)
    if inner.conversation:
        return str(inner.conversation)
    if inner.HasField("extendedTextMessage"):
        return str(inner.extendedTextMessage.text)
    return next((str(media.caption) for _, media in _media(inner) if hasattr(media, "caption")), "")


def album_of(message: Any) -> str:
    """The id of the message that announced the album of a picture or video; empty for others."""
    for part in (message, _inner(message)):
        if part.HasField("messageContextInfo") and part.messageContextInfo.HasField("messageAssociation"):
            association = part.messageContextInfo.messageAssociation
            if association.associationType == MEDIA_ALBUM:
                return str(association.parentMessageKey.ID)
    return ""


def original_of(message: Any) -> dict[str, Any] | None:
    """The message that was replied to as fields of `device.Original`, None where the message is no reply."""
    inner = _inner(message)
    parts = [inner.extendedTextMessage] if inner.HasField("extendedTextMessage") else []
    for part in (*parts, *(media for _, media in _media(inner))):
        if part.HasField("contextInfo") and part.contextInfo.HasField("quotedMessage"):
            context = part.contextInfo
            author = context.participant.partition("@")[0].partition(":")[0]
            return {
                "author": author,
                "text": text_of(context.quotedMessage),
                "media": media_of(context.quotedMessage),
            }
    return None


def media_of(message: Any) -> list[dict[str, Any]]:
    """The files of a message as fields of `device.Media`."""
    inner = _inner(message)
    files = []
    for kind, media in _media(inner):
        mime_type = media.mimetype.partition(";")[0].strip() or "application/octet-stream"
        name = getattr(media, "fileName", "") or file_name(kind, mime_type)
        ref = {"message": base64.b64encode(inner.SerializeToString()).decode()}
        files.append(
            {
                "name": name,
                "mime_type": mime_type,
                "ref": ref,
                "size": media.fileLength or None,
                "is_voice": bool(getattr(media, "PTT", False)),
            }
        )
    return files


def _media(inner: Any) -> list[tuple[str, Any]]:
    return [(kind, getattr(inner, name)) for name, kind in MEDIA.items() if inner.HasField(name)]


def seconds(timestamp: int) -> float:
    """Some versions give milliseconds."""
    return timestamp / 1000 if timestamp > 10**11 else float(timestamp)
