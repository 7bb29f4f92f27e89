"""Contents of messages that several platforms have: names of nameless files, locations, contacts and orders as text
and as `context`, forwarded and deleted messages, emoji, unreadable kinds; the text of what programs show:
Discord's embeds and components, Slack's blocks and attachments, Teams' cards. Pure.

Sources of the latter: https://docs.discord.com/developers/resources/message#embed-object,
https://docs.discord.com/developers/components/reference, https://docs.slack.dev/reference/block-kit/blocks,
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments and
https://adaptivecards.io/explorer/
"""

import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.system.links import address_behind
from domain.channels.messages import Change, Event, Sender
from domain.values import iso_milliseconds

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


def unreadable(kind: str = "this kind of message") -> str:
    """The notice to a person whose message cannot be read; `kind` is a word such as "polls"."""
    return f"I cannot read {kind}. Please write it as text, or send it as a file."


def forwarded(author: str, at: object = None) -> dict[str, object]:
    """The `context` of a forwarded message. `at` is when it was written: seconds since 1970, or ISO 8601."""
    written_at = moment(at)
    return {"forwarded": {"author": author, "at": iso_milliseconds(written_at) if written_at else ""}}


def moment(at: object) -> datetime | None:
    """A time that is given as seconds since 1970 or in ISO 8601, in UTC; None if it cannot be read."""
    try:
        if isinstance(at, str) and not at.replace(".", "", 1).isdigit():
            return datetime.fromisoformat(at).astimezone(UTC)
        return datetime.fromtimestamp(float(str(at)), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def deletion(message_id: str) -> Event:
    """The event of a deleted message, of which platforms send nothing but the id."""
    key = f"{message_id}:{Change.DELETED}"
    return Event(key, "", Sender(""), "", {}, message_id=message_id, change=Change.DELETED)


def location_context(location: object, name: str = "", address: str = "") -> dict[str, object]:
    """The `context` of a location with `latitude` and `longitude`, empty where one is missing."""
    try:
        latitude, longitude = float(text(location, "latitude")), float(text(location, "longitude"))
    except ValueError:
        return {}
    return {"location": {"latitude": latitude, "longitude": longitude, "name": name, "address": address}}


def contact_text(name: str, phones: Iterable[str], emails: Iterable[str] = ()) -> str:
    """A contact as text, empty where nothing is known of it."""
    known = " ".join(filter(None, (name, *phones, *emails)))
    return f"Contact: {known}" if known else ""


def contact_context(name: str, phones: Sequence[str], emails: Sequence[str] = ()) -> dict[str, object]:
    contact = {"name": name, "phones": phones, "emails": emails}
    return {"contact": {key: value for key, value in contact.items() if value}}


def order_text(order: Mapping[str, object]) -> str:
    """An order as text: its title or note, its items, its total."""
    lines = [f"Order: {text(order, 'text')}".rstrip()]
    items = order.get("items")
    for item in items if isinstance(items, list) else []:
        price = f" at {text(item, 'price')} {text(item, 'currency')}".rstrip() if text(item, "price") else ""
        lines.append(f"- {text(item, 'quantity') or '1'} x {text(item, 'productId')}{price}")
    if total := text(order, "total"):
        lines.append(f"Total: {total} {text(order, 'currency')}".rstrip())
    return "\n".join(lines)


def location_text(location: object, *labels: str) -> str:
    """A location with `latitude` and `longitude` as text, empty where one is missing."""
    latitude, longitude = text(location, "latitude"), text(location, "longitude")
    if not latitude or not longitude:
        return ""
    label = ", ".join(filter(None, labels))
    return f"Location: {label} ({latitude}, {longitude})" if label else f"Location: {latitude}, {longitude}"


_FLAG = len("flag-de")
_TO_REGIONAL = 0x1F1E6 - ord("a")
_SKIN = {f"skin-tone-{tone}": chr(0x1F3FB + tone - 2) for tone in range(2, 7)}


def emoji_named(name: str) -> str:
    """The characters of an emoji by its name, such as `+1` or `wave::skin-tone-3`; `:name:` for one that a
    workspace made itself."""
    import emoji  # over 10 MB, for the few who have reactions handed on

    base, _, tone = name.strip(":").partition("::")
    if base.startswith("flag-") and len(base) == _FLAG:
        return "".join(chr(ord(letter) + _TO_REGIONAL) for letter in base[-2:])
    person, _, act = base.partition("-")
    names = (base, base.replace("-", "_"), f"{act}_{person}", f"{person}_{act}")
    candidates = (emoji.emojize(f":{alias}:", language="alias") for alias in names)
    characters = next((emojized for emojized in candidates if not emojized.startswith(":")), f":{base}:")
    return f"{characters}{_SKIN.get(tone, '')}"


MOST_PARTS = 1_000
_TEXTS = (
    "title", "name", "label", "pretext", "subtitle", "text", "content", "description", "altText", "alt_text",
)  # fmt: skip
"""Fields that people read; the first one bears the link."""
_ADDRESSES = ("url", "title_link", "image_url", "value")
_PARTS = (
    "author", "header", "body", "items", "columns", "rows", "cells", "facts", "fields", "elements", "blocks",
    "embeds", "components", "attachments", "image", "images", "media", "accessory", "card",
    "buttons", "actions", "footer",
)  # fmt: skip
"""Fields that hold other parts, in the order in which they are shown."""
_BUTTONS = ("button", "2", "Action.Submit", "Action.Execute")
_ON_ONE_LINE = {
    "rich_text_section": "elements",
    "rich_text_preformatted": "elements",
    "rich_text_quote": "elements",
    "RichTextBlock": "inlines",
}
"""Parts whose pieces follow each other within a line, and the field that holds these."""


def card_text(card: object) -> str:
    """The text of a card, a part on each line, with the addresses of links and without buttons that lead nowhere.
    Empty for what shows no text."""
    lines: list[str] = []
    pending = [card]
    for _ in range(MOST_PARTS):
        if not pending:
            break
        part = pending.pop()
        if isinstance(part, list):
            pending += reversed(part[:MOST_PARTS])
        elif isinstance(part, dict) and (pieces := _ON_ONE_LINE.get(text(part, "type"))):
            lines.append("".join(map(_inline, items(part, pieces))))
        elif isinstance(part, dict):
            lines += _lines(part)
            pending += [part[name] for name in reversed(_PARTS) if name in part]
    return "\n".join(line for line in lines if line.strip())


def _lines(part: Mapping[str, Any]) -> list[str]:
    """The texts of a part itself."""
    if "type" not in part and (value := text(part, "value")):  # a fact, a field
        return [": ".join(filter(None, (text(part, "title") or text(part, "name"), value)))]
    texts = [shown for name in _TEXTS if (shown := text(part, name) or text(part, name, "text"))]
    label = texts[0] if texts else ""
    address = next((behind for name in _ADDRESSES if (behind := address_behind(label, text(part, name)))), "")
    if text(part, "type") in _BUTTONS and not address:
        return []
    return [label + address, *texts[1:]]


def _inline(piece: object) -> str:
    """A piece of Slack's rich text in the markup of its other texts, or one of a card's."""
    match text(piece, "type"):
        case "link":
            label = text(piece, "text")
            return _escaped(label + address_behind(label, text(piece, "url")))
        case "user":
            return f"<@{text(piece, 'user_id')}>"
        case "channel":
            return f"<#{text(piece, 'channel_id')}>"
        case "broadcast":
            return f"<!{text(piece, 'range')}>"
        case "emoji":
            return f":{text(piece, 'name')}:"
        case "text":
            return _escaped(text(piece, "text"))
    return text({"": piece}, "") or text(piece, "text") or text(piece, "fallback")


def _escaped(written: str) -> str:
    return written.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
