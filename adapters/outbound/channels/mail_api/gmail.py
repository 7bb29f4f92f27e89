"""Requests of the Gmail API v1, and its messages as events.

https://developers.google.com/workspace/gmail/api/reference/rest
"""

import base64
import binascii
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from email import message_from_bytes
from email.message import Message
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import at, clean, items, text
from adapters.outbound.mail import mime
from adapters.outbound.mail.compose import reply_target
from adapters.outbound.mail.events import mail_event
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import opened_session_of
from adapters.outbound.net.google import GoogleApi
from adapters.outbound.net.urls import segment
from domain.channels.messages import Attachment, Event

from .config import TARGET, THREAD_DOMAIN, GmailConfig, GmailTarget

_ROOT = "/gmail/v1/users/me/"


class Gmail:
    """The mailbox of the account that granted the refresh token. All methods raise `GoogleError`."""

    def __init__(self, api: GoogleApi) -> None:
        self._api = api

    async def profile(self, config: GmailConfig) -> dict[str, Any]:
        """getProfile: the mail address and the present history id."""
        return await self._api.get(config, f"{_ROOT}profile")

    async def history(self, config: GmailConfig, start: str, page: str) -> dict[str, Any]:
        """history.list: what was added to the inbox since a history id; 404 when it is too old."""
        query = {
            "startHistoryId": start,
            "historyTypes": "messageAdded",
            "labelId": "INBOX",
            "maxResults": "50",
        }
        return await self._list(config, "history", query, page)

    async def search(self, config: GmailConfig, query: str, page: str) -> dict[str, Any]:
        """messages.list: ids of mails that match a search, the newest first."""
        return await self._list(config, "messages", {"q": query, "maxResults": "50"}, page)

    async def message(self, config: GmailConfig, message_id: str, format: str = "full") -> dict[str, Any]:
        """messages.get: the mail taken apart ("full"), or its bytes ("raw")."""
        return await self._api.get(config, f"{_ROOT}messages/{segment(message_id)}", {"format": format})

    async def attachment(self, config: GmailConfig, message_id: str, attachment_id: str) -> dict[str, Any]:
        path = f"{_ROOT}messages/{segment(message_id)}/attachments/{segment(attachment_id)}"
        return await self._api.get(config, path)

    async def send(self, config: GmailConfig, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._api.post(config, f"{_ROOT}messages/send", body)

    async def _list(
        self, config: GmailConfig, path: str, query: Mapping[str, str], page: str
    ) -> dict[str, Any]:
        return await self._api.get(config, _ROOT + path, {**query, **({"pageToken": page} if page else {})})


_RECEIVING_SERVER = ("google.com",)
_NOT_INCOMING = frozenset({"SENT", "DRAFT", "SPAM", "TRASH", "CHAT"})
_ENCODED = frozenset({"content-transfer-encoding", "mime-version"})
"""Header fields that do not hold of what Gmail gives."""
_ENCLOSED = "message/rfc822"
_ESCAPE = b"\x1b"
"""Begins the characters of ISO-2022-JP, which is as valid in UTF-8."""


class GmailPart(Message):
    """A part of the MIME tree, as messages.get shows it, with its content decoded. `attachment_id` names the
    content where it is not there, `size` counts its bytes."""

    def __init__(self, shown: Mapping[str, Any]) -> None:
        super().__init__(mime.POLICY)
        self.id = text(shown, "partId")
        self.attachment_id = text(shown, "body", "attachmentId")
        size, data = at(shown, "body", "size"), text(shown, "body", "data")
        self.size = size if isinstance(size, int) else None
        self.has_content = bool(data)
        for field in items(shown, "headers"):
            name = text(field, "name")
            if name and name.lower() not in _ENCODED:
                self[name] = text(field, "value")
        mime_type = clean(text(shown, "mimeType")).lower()
        if mime_type and self.get_content_type() != mime_type:
            del self["Content-Type"]
            self["Content-Type"] = mime_type
        name = mime.clean_filename(clean(text(shown, "filename")))
        if name and not mime.filename(self):
            disposition = self.get_content_disposition() or "inline"
            del self["Content-Disposition"]
            self.add_header("Content-Disposition", disposition, filename=name)
        self.fill(from_base64url(data))

    def fill(self, content: bytes) -> None:
        """Sets the content of a part that holds no others. Texts are UTF-8, into which Gmail converts most of
        them, where they can be, whatever is declared."""
        self.set_payload(content.decode("ascii", "surrogateescape"))
        if self.get_content_maintype() == "text" and _ESCAPE not in content:
            with contextlib.suppress(UnicodeDecodeError):
                content.decode()
                self.set_param("charset", "utf-8")

    @property
    def is_enclosed_mail(self) -> bool:
        return self.get_content_type() == _ENCLOSED

    @property
    def is_missing(self) -> bool:
        """Return True if reading the mail needs the content, and it is still to be fetched: of a long text, or of a
        part that holds others."""
        is_read = mime.is_wrapper(self) or not mime.is_file(self, is_first=True)
        return is_read and not self.is_multipart() and not self.has_content and bool(self.attachment_id)


def message_of(shown: Mapping[str, Any]) -> GmailPart:
    payload = at(shown, "payload")
    root = GmailPart(payload if isinstance(payload, Mapping) else {})
    pending = [(root, payload)]
    count = 1
    while pending:
        part, tree = pending.pop()
        children = [child for child in items(tree, "parts") if isinstance(child, Mapping)]
        if part.is_enclosed_mail or not children:
            continue
        inner = [GmailPart(child) for child in children[: mime.MAX_PARTS - count]]
        count += len(inner)
        part.set_payload([*inner])
        pending.extend(zip(inner, children, strict=False))
    return root


def parts_of(message: GmailPart) -> list[GmailPart]:
    """All parts that hold no others, in their order."""
    return [part for part in message.walk() if isinstance(part, GmailPart) and not part.is_multipart()]


def from_base64url(data: str) -> bytes:
    """The bytes; empty for invalid data."""
    try:
        return base64.urlsafe_b64decode(data.encode("ascii", "ignore") + b"=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def is_incoming(shown: Mapping[str, Any]) -> bool:
    labels = {label for label in items(shown, "labelIds") if isinstance(label, str)}
    return labels.isdisjoint(_NOT_INCOMING)


def event_of(config: GmailConfig, shown: Mapping[str, Any], message: GmailPart, own_address: str) -> Event:
    """The event of a mail, refused where it is not answered; its session is the thread that we opened, else Gmail's
    thread."""
    mail = mime.read_message(message)
    message_id, thread_id = text(shown, "id"), text(shown, "threadId")
    target = reply_target(mail.headers, partial(GmailTarget, thread_id=thread_id, own_address=own_address))
    reason = reason_not_to_answer(mail.headers, own_address, config.answered_reasons)
    attachments = []
    for file in mail.files:
        part_id, size = (file.part.id, file.part.size) if isinstance(file.part, GmailPart) else ("", None)
        source: dict[str, object] = {"messageId": message_id, "partId": part_id}
        if file.member is not None:
            source["member"], size = file.member, len(file.content)
        attachments.append(Attachment(file.name, file.mime_type, source, size or None))
    event = mail_event(
        mail,
        _RECEIVING_SERVER,
        key=message_id,
        session_id=opened_session_of(mail.headers, THREAD_DOMAIN) or thread_id or message_id,
        shared_threads=config.shared_threads,
        target=TARGET.dump(target),
        attachments=tuple(attachments),
        ids=(message_id,),
        raw={"id": message_id},
    )
    return event if reason is None else replace(event, refused=reason)


def enclosed_content(raw: bytes, part_id: str) -> bytes | None:
    """The enclosed mail at that place of a mail, whose parts Gmail numbers from 0 on, with dots between the
    levels."""
    part: Message | None = message_from_bytes(raw, policy=mime.POLICY)
    for number in part_id.split("."):
        payload = part.get_payload() if part is not None else None
        index = int(number) if number.isdigit() else -1
        inner = payload[index] if isinstance(payload, list) and 0 <= index < len(payload) else None
        part = inner if isinstance(inner, Message) else None
    return mime.enclosed_mail(part) if part is not None else None
