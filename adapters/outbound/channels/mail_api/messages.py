"""A Gmail message as an event. Pure."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import at, clean, items, text
from adapters.outbound.channels.mail_api.config import TARGET, THREAD_DOMAIN, GmailTarget
from adapters.outbound.mail.charsets import decode_bytes
from adapters.outbound.mail.compose import reply_target
from adapters.outbound.mail.events import mail_event
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import Headers, opened_session_of
from adapters.outbound.mail.mime import (
    MAX_PARTS,
    MAX_TEXT,
    clean_filename,
    is_answer,
    quoted_text,
    readable_text,
)
from adapters.outbound.mail.subjects import is_forwarded
from domain.channels.messages import Attachment, Event, Quoted

_RECEIVING_SERVER = ("google.com",)
_NOT_INCOMING = frozenset({"SENT", "DRAFT", "SPAM", "TRASH", "CHAT"})


@dataclass(frozen=True, slots=True)
class MimePart:
    """A leaf of the MIME tree, as messages.get shows it. `data` is None where `attachment_id` names it."""

    id: str
    mime_type: str
    name: str
    headers: Headers
    data: bytes | None
    attachment_id: str
    size: int | None

    @property
    def is_text(self) -> bool:
        return self.mime_type in ("text/plain", "text/html") and not self.name

    @property
    def is_missing_text(self) -> bool:
        """Whether it is a text so long that Gmail gives it only as an attachment."""
        return self.is_text and self.data is None and bool(self.attachment_id)

    @property
    def is_file(self) -> bool:
        return bool(self.name) or (not self.mime_type.startswith("text/") and bool(self.attachment_id))

    @property
    def charset(self) -> str:
        """UTF-8 when the bytes are that, whatever is declared: Gmail converts most texts."""
        try:
            (self.data or b"").decode()
        except UnicodeDecodeError:
            _, _, declared = self.headers.text("Content-Type").lower().partition("charset=")
            return declared.split(";")[0].strip(" \"'") or "utf-8"
        return "utf-8"


def parts_of(message: Mapping[str, Any]) -> list[MimePart]:
    """The leaves in their order."""
    leaves: list[MimePart] = []
    pending = [at(message, "payload")]
    for _ in range(MAX_PARTS):
        if not pending:
            break
        part = pending.pop()
        if children := items(part, "parts"):
            pending.extend(reversed(children))
        elif isinstance(part, Mapping):
            leaves.append(_leaf(part))
    return leaves


def _leaf(part: Mapping[str, Any]) -> MimePart:
    size, data = at(part, "body", "size"), text(part, "body", "data")
    return MimePart(
        id=text(part, "partId"),
        mime_type=clean(text(part, "mimeType")).lower() or "application/octet-stream",
        name=clean_filename(clean(text(part, "filename"))),
        headers=_headers(part),
        data=from_base64url(data) if data else None,
        attachment_id=text(part, "body", "attachmentId"),
        size=size if isinstance(size, int) else None,
    )


def _headers(part: object) -> Headers:
    """The header fields of a message's payload or of one of its parts."""
    return Headers((text(field, "name"), text(field, "value")) for field in items(part, "headers"))


def from_base64url(data: str) -> bytes:
    """The bytes; empty for invalid data."""
    try:
        return base64.urlsafe_b64decode(data.encode("ascii", "ignore") + b"=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def is_answered(message: Mapping[str, Any], own_address: str) -> bool:
    """Whether it is mail that arrived, from a sender that may be answered."""
    labels = {label for label in items(message, "labelIds") if isinstance(label, str)}
    headers = _headers(at(message, "payload"))
    return labels.isdisjoint(_NOT_INCOMING) and reason_not_to_answer(headers, own_address) is None


def event_of(message: Mapping[str, Any], parts: list[MimePart], own_address: str) -> Event:
    """The event of a mail; its session is the thread that we opened, else Gmail's thread."""
    headers = _headers(at(message, "payload"))
    forwarded = is_forwarded(headers.text("Subject"))
    message_id, thread_id = text(message, "id"), text(message, "threadId")
    target = reply_target(headers, partial(GmailTarget, thread_id=thread_id, own_address=own_address))
    plain = _text(parts, "text/plain", forwarded=forwarded)
    return mail_event(
        headers,
        _RECEIVING_SERVER,
        key=message_id,
        session_id=opened_session_of(headers, THREAD_DOMAIN) or thread_id or message_id,
        text=(plain or _text(parts, "text/html", forwarded=forwarded))[:MAX_TEXT],
        target=TARGET.dump(target),
        attachments=tuple(_attachment(message_id, part) for part in parts if part.is_file),
        ids=(message_id,),
        quoted=_quoted(parts) if is_answer(headers) else None,
        raw={"id": message_id},
    )


def _quoted(parts: list[MimePart]) -> Quoted | None:
    texts = (part for part in parts if part.is_text and part.data)
    found = (
        quoted_text(decode_bytes(part.data or b"", part.charset), is_html=part.mime_type == "text/html")
        for part in texts
    )
    return next(filter(None, found), None)


def _text(parts: list[MimePart], mime_type: str, *, forwarded: bool) -> str:
    texts = [
        readable_text(
            decode_bytes(part.data, part.charset), is_html=mime_type == "text/html", forwarded=forwarded
        )
        for part in parts
        if part.mime_type == mime_type and part.is_text and part.data
    ]
    return clean("\n\n".join(filter(None, texts)))


def _attachment(message_id: str, part: MimePart) -> Attachment:
    source = {"messageId": message_id, "partId": part.id}
    return Attachment(part.name or f"file-{part.id}", part.mime_type, source, part.size)
