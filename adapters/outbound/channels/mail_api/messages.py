"""A Gmail message as an event. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import at, clean, items, text
from adapters.outbound.mail.charsets import decode_bytes
from adapters.outbound.mail.compose import reply_target
from adapters.outbound.mail.events import mail_event
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import Headers
from adapters.outbound.mail.mime import MAX_PARTS, MAX_TEXT, clean_filename, readable_text
from adapters.outbound.mail.subjects import is_forwarded
from domain.channels.messages import Attachment, Event

_RECEIVING_SERVER = ("google.com",)
_NOT_INCOMING = frozenset({"SENT", "DRAFT", "SPAM", "TRASH", "CHAT"})


@dataclass(frozen=True, slots=True)
class MimePart:
    """A leaf of the MIME tree, as messages.get shows it."""

    id: str
    mime_type: str
    name: str
    headers: Headers
    data: bytes | None
    attachment_id: str
    size: int | None


def parts_of(message: Mapping[str, Any]) -> list[MimePart]:
    """The leaves in their order."""
    return list(_leaves(at(message, "payload")))


def _leaves(payload: object) -> Iterator[MimePart]:
    pending = [payload]
    for _ in range(MAX_PARTS):
        if not pending:
            return
        part = pending.pop()
        children = items(part, "parts")
        if children:
            pending.extend(reversed(children))
        elif isinstance(part, Mapping):
            yield _leaf(part)


def _leaf(part: Mapping[str, Any]) -> MimePart:
    size = at(part, "body", "size")
    return MimePart(
        id=text(part, "partId"),
        mime_type=clean(text(part, "mimeType")).lower() or "application/octet-stream",
        name=clean_filename(clean(text(part, "filename"))),
        headers=headers_of(part),
        data=from_base64url(text(part, "body", "data")) if text(part, "body", "data") else None,
        attachment_id=text(part, "body", "attachmentId"),
        size=size if isinstance(size, int) else None,
    )


def headers_of(part: object) -> Headers:
    """The header fields of a message's payload or of one of its parts."""
    return Headers((text(field, "name"), text(field, "value")) for field in items(part, "headers"))


def from_base64url(data: str) -> bytes:
    """The bytes; what is no base64url reads as nothing."""
    try:
        return base64.urlsafe_b64decode(data.encode("ascii", "ignore") + b"=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def text_of(parts: list[MimePart], subject: str = "") -> str:
    """What the writer wrote: the text/plain parts, else the HTML."""
    forwarded = is_forwarded(subject)
    plain = _joined(parts, "text/plain", forwarded=forwarded)
    return (plain or _joined(parts, "text/html", forwarded=forwarded))[:MAX_TEXT]


def _joined(parts: list[MimePart], mime_type: str, *, forwarded: bool) -> str:
    texts = []
    for part in parts:
        if part.mime_type == mime_type and not part.name and part.data:
            content = decode_bytes(part.data, _charset(part))
            texts.append(readable_text(content, is_html=mime_type == "text/html", forwarded=forwarded))
    return clean("\n\n".join(filter(None, texts)))


def _charset(part: MimePart) -> str:
    """UTF-8 when the bytes are that, whatever is declared: Gmail converts most texts."""
    try:
        (part.data or b"").decode()
    except UnicodeDecodeError:
        _, _, declared = part.headers.text("Content-Type").lower().partition("charset=")
        return declared.split(";")[0].strip(" \"'") or "utf-8"
    return "utf-8"


def missing_text(parts: list[MimePart]) -> list[MimePart]:
    """Texts so long that Gmail gives them only as attachments."""
    readable = ("text/plain", "text/html")
    return [
        part
        for part in parts
        if part.mime_type in readable and not part.name and part.data is None and part.attachment_id
    ]


def is_incoming(message: Mapping[str, Any]) -> bool:
    """Whether it is mail that arrived, rather than sent, drafted or thrown away."""
    return not _NOT_INCOMING & {label for label in items(message, "labelIds") if isinstance(label, str)}


def ignored_for(message: Mapping[str, Any], own_address: str) -> str | None:
    """Why a mail is not answered, None when it is."""
    return reason_not_to_answer(headers_of(at(message, "payload")), own_address)


def event_of(message: Mapping[str, Any], parts: list[MimePart], own_address: str) -> Event:
    """The event of a mail; its session is Gmail's thread."""
    headers = headers_of(at(message, "payload"))
    message_id, thread_id = text(message, "id"), text(message, "threadId")
    return mail_event(
        headers,
        _RECEIVING_SERVER,
        key=message_id,
        session_id=thread_id or message_id,
        text=text_of(parts, headers.text("Subject")),
        target={**reply_target(headers), "threadId": thread_id, "from": own_address},
        attachments=tuple(_attachment(message_id, part) for part in parts if _is_file(part)),
        ids=(message_id,),
        raw={"id": message_id},
    )


def _is_file(part: MimePart) -> bool:
    return bool(part.name) or (not part.mime_type.startswith("text/") and bool(part.attachment_id))


def _attachment(message_id: str, part: MimePart) -> Attachment:
    return Attachment(
        name=part.name or f"file-{part.id}",
        mime_type=part.mime_type,
        source={"messageId": message_id, "partId": part.id},
        size=part.size,
    )
