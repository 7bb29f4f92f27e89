"""The files and the wordless contents of a Telegram message."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment

_MIME_TYPES = {
    "photo": "image/jpeg",
    "voice": "audio/ogg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "video_note": "video/mp4",
    "sticker": "image/webp",
    "animation": "video/mp4",
    "document": "application/octet-stream",
}
"""Kinds of files and the media type of each where the message names none."""

_SUFFIXES = {"image/jpeg": ".jpg", "audio/ogg": ".ogg", "image/webp": ".webp"}


def attachments_of(message: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files of a message; a GIF comes as animation and, once more, as document."""
    kinds = [kind for kind in _MIME_TYPES if kind in message]
    if "animation" in kinds and "document" in kinds:
        kinds.remove("document")
    found = (_attachment(kind, _file(message, kind)) for kind in kinds)
    return tuple(each for each in found if each)


def _file(message: Mapping[str, Any], kind: str) -> Any:
    """A photo comes in several sizes, the largest last."""
    if kind != "photo":
        return message[kind]
    sizes = items(message, "photo")
    return sizes[-1] if sizes else None


def _attachment(kind: str, file: Any) -> Attachment | None:
    file_id = text(file, "file_id")
    if not file_id:
        return None
    mime_type = text(file, "mime_type") or _MIME_TYPES[kind]
    size = at(file, "file_size")
    suffix = _SUFFIXES.get(mime_type) or mimetypes.guess_extension(mime_type) or ""
    return Attachment(
        name=text(file, "file_name") or f"{kind}{suffix}",
        mime_type=mime_type,
        source={"file_id": file_id},
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )


def described(message: Mapping[str, Any]) -> str:
    """A location, a venue or a contact in words; empty for what says nothing (joins, pins, titles)."""
    if contact := at(message, "contact"):
        name = " ".join(filter(None, (text(contact, "first_name"), text(contact, "last_name"))))
        return f"Contact: {name} {text(contact, 'phone_number')}".rstrip()
    place = at(message, "location")
    if not text(place, "latitude") or not text(place, "longitude"):
        return ""
    where = f"{text(place, 'latitude')}, {text(place, 'longitude')}"
    venue = ", ".join(filter(None, (text(message, "venue", "title"), text(message, "venue", "address"))))
    return f"Location: {venue} ({where})" if venue else f"Location: {where}"
