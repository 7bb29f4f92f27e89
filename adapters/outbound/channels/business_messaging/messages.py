"""Messages of a person to a WhatsApp business number.

https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components. Pure.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment, Event, Identity, Sender

_MEDIA = {
    "image": "image/jpeg",
    "video": "video/mp4",
    "audio": "audio/ogg",
    "voice": "audio/ogg",
    "document": "application/octet-stream",
    "sticker": "image/webp",
}
"""Kinds of media and the media type of each where the message names none."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Why a message is not handed on: a short word."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Content:
    text: str = ""
    choice: str | None = None
    attachments: tuple[Attachment, ...] = ()


def read_message(message: Any, value: Mapping[str, Any]) -> Event | Skipped:
    """The event of a message. A sender may be known by phone number, by a business-scoped id, or by both."""
    phone, scoped = text(message, "from"), text(message, "from_user_id")
    if not (phone or scoped):
        return Skipped("incomplete")
    if phone and phone == _digits(text(value, "metadata", "display_phone_number")):
        return Skipped("own")
    content = _content(message)
    if content is None:
        return Skipped("kind")
    wamid = text(message, "id")
    return Event(
        key=wamid or None,
        session_id=phone or scoped,
        sender=Sender(phone or scoped, _name(value, phone, scoped), _identities(phone, scoped)),
        text=content.text,
        target={**({"to": phone} if phone else {"recipient": scoped}), "message_id": wamid},
        attachments=content.attachments,
        choice=content.choice,
    )


def _content(message: Any) -> _Content | None:
    """What the message says; None for what says nothing (reactions, system notes, unsupported kinds)."""
    kind = text(message, "type")
    if kind in _MEDIA:
        return _media(message, kind)
    if kind == "interactive":
        return _reply(message)
    if kind == "button":  # a quick reply of a template
        choice = text(message, "button", "payload")
        return _said(text(message, "button", "text") or choice, choice or None)
    words = {
        "text": lambda: text(message, "text", "body"),
        "location": lambda: _location(at(message, "location")),
        "contacts": lambda: "\n".join(filter(None, (_contact(each) for each in items(message, "contacts")))),
    }.get(kind, str)()
    return _said(words)


def _said(words: str, choice: str | None = None) -> _Content | None:
    words = words.strip()
    return _Content(words, choice) if words else None


def _reply(message: Any) -> _Content | None:
    for kind in ("button_reply", "list_reply"):
        reply = at(message, "interactive", kind)
        if isinstance(reply, dict):
            choice = text(reply, "id")
            return _said(text(reply, "title") or choice, choice or None)
    return _said(text(message, "interactive", "nfm_reply", "response_json"))


def _media(message: Any, kind: str) -> _Content | None:
    file = at(message, kind)
    media_id, mime_type = text(file, "id"), text(file, "mime_type").partition(";")[0].strip()
    caption = text(file, "caption").strip()
    if not media_id:
        return _said(caption)
    mime_type = mime_type or _MEDIA[kind]
    name = text(file, "filename") or f"{kind}{mimetypes.guess_extension(mime_type) or ''}"
    return _Content(caption, attachments=(Attachment(name, mime_type, {"media_id": media_id}),))


def _location(place: Any) -> str:
    where = ", ".join(filter(None, (text(place, "latitude"), text(place, "longitude"))))
    label = ", ".join(filter(None, (text(place, "name"), text(place, "address"))))
    if not where:
        return ""
    return f"Location: {label} ({where})" if label else f"Location: {where}"


def _contact(contact: Any) -> str:
    name = text(contact, "name", "formatted_name")
    phones = [text(each, "phone") for each in items(contact, "phones")]
    return f"Contact: {' '.join(filter(None, [name, *phones]))}" if name or phones else ""


def _identities(phone: str, scoped: str) -> tuple[Identity, ...]:
    own = (Identity("business-messaging", phone), Identity("phone", phone)) if phone else ()
    return (*own, Identity("business-messaging", scoped)) if scoped else own


def _name(value: Mapping[str, Any], phone: str, scoped: str) -> str:
    contacts = items(value, "contacts")
    for contact in contacts:
        ids = (text(contact, "wa_id"), text(contact, "user_id"))
        if any(each and each in (phone, scoped) for each in ids):
            return text(contact, "profile", "name")
    return ""


def _digits(number: str) -> str:
    return "".join(each for each in number if each.isdigit())
