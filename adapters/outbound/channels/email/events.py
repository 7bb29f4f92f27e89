"""The events of mails, and the cursor of a mailbox. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.outbound.channels.email.config import TARGET, EmailConfig
from adapters.outbound.mail.compose import MailTarget, reply_target
from adapters.outbound.mail.events import mail_event
from adapters.outbound.mail.headers import session_of
from adapters.outbound.mail.mime import Mail
from domain.channels.messages import Attachment, Event, Sender

MAX_PER_THREAD = 100
"""Mails of one thread that are taken in an hour: more are two machines that answer each other."""
_HOUR = 3600.0


@dataclass(slots=True)
class MailboxCursor:
    """`account` identifies the mailbox; `taken` are UIDs that were handed on and may still be unread on the server;
    `threads` holds the times (epoch seconds) of the last hour's mails by thread."""

    uid_validity: int
    account: str
    taken: set[int] = field(default_factory=set)
    threads: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def load(
        cls, stored: Mapping[str, Any] | None, uid_validity: int, account: str, now: datetime
    ) -> MailboxCursor:
        """From the stored JSON. UIDs of another mailbox or UIDVALIDITY do not hold (RFC 9051, 2.3.1.1)."""
        stored = stored or {}
        since = now.timestamp() - _HOUR
        cursor = cls(uid_validity, account)
        for thread, times in stored.get("threads", {}).items():
            if recent := [time for time in times if time > since]:
                cursor.threads[thread] = recent
        if stored.get("uidValidity") == uid_validity and stored.get("account") == account:
            cursor.taken = set(stored.get("taken", ()))
        return cursor

    def dump(self) -> dict[str, Any]:
        return {
            "uidValidity": self.uid_validity,
            "account": self.account,
            "taken": sorted(self.taken),
            "threads": self.threads,
        }

    def admits(self, thread: str, now: datetime) -> bool:
        """Counts a mail of a thread; False when the thread is over its limit in this hour."""
        times = self.threads.setdefault(thread, [])
        if len(times) >= MAX_PER_THREAD:
            return False
        times.append(now.timestamp())
        return True


@dataclass(frozen=True, slots=True)
class Position:
    """Where a mail is in the mailbox."""

    uid_validity: int
    uid: int

    @property
    def json(self) -> dict[str, Any]:
        return {"uidValidity": self.uid_validity, "uid": self.uid}


def event_of(config: EmailConfig, mail: Mail, position: Position, *, whole: bool = True) -> Event:
    """The event of a mail. `whole` False: only the beginning was read, so its files are left out."""
    message_ids = mail.headers.message_ids("Message-ID")[:1]
    return mail_event(
        mail.headers,
        config.own_domains,
        key=mail.key,
        session_id=session_of(mail.headers, mail.key),
        text=mail.text,
        target=TARGET.dump(reply_target(mail.headers, MailTarget)),
        attachments=_attachments(mail, position, "".join(message_ids)) if whole else (),
        ids=message_ids,
        raw=position.json | ({} if whole else {"truncated": True}),
    )


def _attachments(mail: Mail, position: Position, message_id: str) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            name=file.name,
            mime_type=file.mime_type,
            source={**position.json, "messageId": message_id, "index": file.index},
            size=len(file.content),
        )
        for file in mail.files
    )


def unreadable(position: Position, key: str, reason: str) -> Event:
    """The event of a mail that cannot be read: recorded as failed, so that it is neither lost nor tried again."""
    return Event(
        key=key,
        session_id=key,
        sender=Sender(""),
        text="",
        target={},
        unreadable=reason,
        raw=position.json,
    )
