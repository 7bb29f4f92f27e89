"""Contents of messages that several platforms have: names of nameless files, locations as text."""

import mimetypes

from adapters.outbound.channels.common.bodies import text

_OFFICE = "application/vnd.openxmlformats-officedocument"
_SUFFIXES = {
    "image/jpeg": ".jpg",
    "audio/ogg": ".ogg",
    "image/webp": ".webp",
    "text/calendar": ".ics",
    "text/vcard": ".vcf",
    "message/rfc822": ".eml",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
}
"""What not every system's list of types has."""


def file_name(kind: str, mime_type: str) -> str:
    """The name of a file that has none, such as 'photo.jpg'."""
    return kind + (_SUFFIXES.get(mime_type) or mimetypes.guess_extension(mime_type) or "")


def location_text(location: object, *labels: str) -> str:
    """A location with `latitude` and `longitude` as text, empty where one is missing."""
    latitude, longitude = text(location, "latitude"), text(location, "longitude")
    if not latitude or not longitude:
        return ""
    label = ", ".join(filter(None, labels))
    return f"Location: {label} ({latitude}, {longitude})" if label else f"Location: {latitude}, {longitude}"
