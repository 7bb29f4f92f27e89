"""Reads the messages of the library, which are the messaging service's own protobuf messages."""

import base64
import re
from collections.abc import Sequence
from typing import Any

from adapters.outbound.channels.common import contents

MEDIA = {
    "imageMessage": "image",
    "videoMessage": "video",
    "ptvMessage": "video",
    "audioMessage": "audio",
    "documentMessage": "document",
    "stickerMessage": "sticker",
}

WRAPPERS = (
    "ephemeralMessage", "viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension",
    "documentWithCaptionMessage", "associatedChildMessage",
)  # fmt: skip
"""Messages that hold another one: disappearing, to be seen once, with a caption, part of an album."""

UNREADABLE = {
    "pollCreationMessage": "polls",
    "eventMessage": "events",
    "eventInviteMessage": "events",
    "productMessage": "products",
    "groupInviteMessage": "invitations",
    "newsletterAdminInviteMessage": "invitations",
    "newsletterFollowerInviteMessage": "invitations",
    "scheduledCallCreationMessage": "calls",
    "sendPaymentMessage": "payments",
    "requestPaymentMessage": "payments",
    "paymentInviteMessage": "payments",
    "stickerPackMessage": "sticker packs",
    "lottieStickerMessage": "moving stickers",
    "audioStickerMessage": "stickers with sound",
    "musicMessage": "music",
}
"""Beginnings of the names of kinds that people send and that cannot be read, and how a notice calls them."""

_VCARD_PHONE = re.compile(r"^(?:item\d+\.)?TEL[^:\n]{0,200}:(.{1,40})$", re.MULTILINE)

_VCARD_EMAIL = re.compile(r"^(?:item\d+\.)?EMAIL[^:\n]{0,200}:(.{1,250})$", re.MULTILINE)

FREQUENTLY = 5
"""From this `forwardingScore` on apps say "Forwarded many times"."""

MEDIA_ALBUM = 1
"""`MessageAssociation.AssociationType`: the message is a picture or video of an album."""


def _inner(message: Any) -> Any:
    for name in WRAPPERS:
        if message.HasField(name):
            return _inner(getattr(message, name).message)
    return message


def text_of(message: Any) -> str:
    """The text of a message, the caption of its file, or what it shows: a location, contacts, an order, a reply."""
    inner = _inner(message)
    if inner.conversation:
        return str(inner.conversation)
    if inner.HasField("extendedTextMessage"):
        return str(inner.extendedTextMessage.text)
    captions = (str(media.caption) for _, media in _media(inner) if hasattr(media, "caption"))
    if caption := next(captions, ""):
        return caption
    if place := _location(inner):
        return contents.location_text(*place)
    if contacts := _contacts(inner):
        return "\n".join(contents.contact_text(*contact) for contact in contacts)
    if order := _order(inner):
        return contents.order_text(order)
    replies = (
        inner.buttonsResponseMessage.selectedDisplayText,
        inner.templateButtonReplyMessage.selectedDisplayText,
        inner.listResponseMessage.title,
        inner.interactiveResponseMessage.body.text,
    )
    return next((str(reply) for reply in replies if reply), "")


def context_of(message: Any) -> dict[str, object]:
    """What a message tells beside its text, as `Event.context`."""
    inner = _inner(message)
    context = {**_origin(inner), "payload": _payload(inner), "order": _order(inner)}
    if place := _location(inner):
        context |= contents.location_context(*place)
    if contacts := _contacts(inner):
        context |= contents.contact_context(*contacts[0])
    return {key: value for key, value in context.items() if value}


def _origin(inner: Any) -> dict[str, object]:
    """The mark of a forwarded message, and the ad from which the person comes."""
    parts = (part.contextInfo for _, part in inner.ListFields() if hasattr(part, "contextInfo"))
    if (context := next(parts, None)) is None:
        return {}
    frequently = context.forwardingScore >= FREQUENTLY
    ad = context.externalAdReply
    referral = {
        "sourceType": ad.sourceType,
        "sourceId": ad.sourceID,
        "sourceUrl": ad.sourceURL,
        "headline": ad.title,
        "body": ad.body,
        "ctwaClid": ad.ctwaClid,
    }
    return {
        "forwarded": {"frequently": frequently} if context.isForwarded else {},
        "referral": {key: value for key, value in referral.items() if value},
    }


def _payload(inner: Any) -> str:
    """What stands behind a pressed button or row, or the values of a form as JSON text."""
    values = (
        inner.buttonsResponseMessage.selectedButtonID,
        inner.templateButtonReplyMessage.selectedID,
        inner.listResponseMessage.singleSelectReply.selectedRowID,
        inner.interactiveResponseMessage.nativeFlowResponseMessage.paramsJSON,
    )
    return next((str(value) for value in values if value), "")


def unreadable_kind(message: Any) -> str:
    """How a notice calls the kind of a message that cannot be read; empty for others."""
    for field, _ in _inner(message).ListFields():
        for name, kind in UNREADABLE.items():
            if field.name.startswith(name):
                return kind
    return ""


def _location(inner: Any) -> tuple[dict[str, float], str, str] | None:
    """Coordinates, name and address."""
    for kind in ("locationMessage", "liveLocationMessage"):
        if inner.HasField(kind):
            place = getattr(inner, kind)
            coordinates = {"latitude": place.degreesLatitude, "longitude": place.degreesLongitude}
            return coordinates, getattr(place, "name", ""), getattr(place, "address", "")
    return None


def _values(pattern: re.Pattern[str], vcard: str) -> list[str]:
    return [value.strip() for value in pattern.findall(vcard)]


def _contacts(inner: Any) -> Sequence[tuple[str, list[str], list[str]]]:
    """Names, phone numbers and mail addresses."""
    cards = list(inner.contactsArrayMessage.contacts)
    if inner.HasField("contactMessage"):
        cards.append(inner.contactMessage)
    return [
        (card.displayName, _values(_VCARD_PHONE, card.vcard), _values(_VCARD_EMAIL, card.vcard))
        for card in cards
    ]


def _order(inner: Any) -> dict[str, object]:
    """Total and number of items: the service tells no more of an order."""
    if not inner.HasField("orderMessage"):
        return {}
    order = inner.orderMessage
    return {
        "id": order.orderID,
        "text": order.message or order.orderTitle,
        "itemCount": order.itemCount,
        "total": order.totalAmount1000 / 1000,
        "currency": order.totalCurrencyCode,
    }


def album_of(message: Any) -> str:
    """The id of the message that announced the album of a picture or video; empty for others."""
    for part in (message, _inner(message)):
        if part.HasField("messageContextInfo") and part.messageContextInfo.HasField("messageAssociation"):
            association = part.messageContextInfo.messageAssociation
            if association.associationType == MEDIA_ALBUM:
                return str(association.parentMessageKey.ID)
    return ""


def original_of(message: Any) -> dict[str, Any] | None:
    """The message that was replied to as fields of `Quoted`, None if the message is no reply."""
    inner = _inner(message)
    parts = [inner.extendedTextMessage] if inner.HasField("extendedTextMessage") else []
    for part in (*parts, *(media for _, media in _media(inner))):
        if part.HasField("contextInfo") and part.contextInfo.HasField("quotedMessage"):
            context = part.contextInfo
            author = context.participant.partition("@")[0].partition(":")[0]
            return {
                "author": author,
                "text": text_of(context.quotedMessage),
                "attachments": media_of(context.quotedMessage),
            }
    return None


def media_of(message: Any) -> list[dict[str, Any]]:
    """The files of a message as fields of `Attachment`."""
    inner = _inner(message)
    files = []
    for kind, media in _media(inner):
        mime_type = media.mimetype.partition(";")[0].strip() or "application/octet-stream"
        name = getattr(media, "fileName", "") or contents.file_name(kind, mime_type)
        files.append(
            {
                "name": name,
                "mime_type": mime_type,
                "source": {"message": base64.b64encode(inner.SerializeToString()).decode()},
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
