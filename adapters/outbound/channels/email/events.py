"""A mail as an event, and what a poll remembers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.outbound.channels.email.settings import own_domains
from adapters.outbound.mail.authentication import proven_sender
from adapters.outbound.mail.compose import reply_target
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import session_of
from adapters.outbound.mail.mime import Mail
from domain.channels.messages import Attachment, Config, Event, Identity, Sender

MAX_PER_THREAD = 100
"""Mails of one thread that are taken in an hour: more is two machines writing to each other."""
_HOUR = 3600.0


@dataclass(slots=True)
class Memory:
    """The cursor. `account` names the mailbox; `taken` are UIDs that were handed on and may still be unread on
    the server; `threads` holds the times (epoch seconds) of the last hour's mails by thread."""

    uid_validity: int
    account: str
    last_uid: int = 0
    taken: set[int] = field(default_factory=set)
    threads: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def load(cls, cursor: Mapping[str, Any] | None, uid_validity: int, account: str, now: datetime) -> Memory:
        """From a stored cursor. UIDs of another mailbox or UIDVALIDITY say nothing (RFC 9051, 2.3.1.1)."""
        stored = cursor or {}
        since = now.timestamp() - _HOUR
        recent = {
            thread: [at for at in times if at > since] for thread, times in stored.get("threads", {}).items()
        }
        memory = cls(
            uid_validity, account, threads={thread: times for thread, times in recent.items() if times}
        )
        if stored.get("uidValidity") == uid_validity and stored.get("account") == account:
            memory.taken = set(stored.get("taken", ()))
            memory.last_uid = int(stored.get("lastUid", 0))
        return memory

    def dump(self) -> dict[str, Any]:
        return {
            "uidValidity": self.uid_validity,
            "account": self.account,
            "lastUid": self.last_uid,
            "taken": sorted(self.taken),
            "threads": self.threads,
        }

    def take(self, uid: int) -> None:
        self.taken.add(uid)
        self.last_uid = max(self.last_uid, uid)

    def admits(self, thread: str, now: datetime) -> bool:
        """Counts a mail of a thread; False when the thread has had its share of this hour."""
        times = self.threads.setdefault(thread, [])
        if len(times) >= MAX_PER_THREAD:
            return False
        times.append(now.timestamp())
        return True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mail lies in the mailbox."""

    uid_validity: int
    uid: int


def event_of(config: Config, mail: Mail, place: Place, *, whole: bool = True) -> Event:
    """The event of a mail. `whole` False: only the beginning was read, so its files are left out."""
    sender = (mail.headers.addresses("From") or (None,))[0]
    proven = proven_sender(mail.headers, own_domains(config))
    address = sender.email.lower() if sender else ""
    target = reply_target(mail.headers)
    return Event(
        key=mail.key,
        session_id=session_of(mail.headers, mail.key),
        sender=Sender(
            external_id=address,
            display_name=sender.name if sender else "",
            identities=(Identity("email", proven.email.lower()),) if proven else (),
        ),
        text=mail.text or mail.headers.text("Subject"),
        target=target,
        attachments=_attachments(mail, place) if whole else (),
        ids=tuple(mail.headers.message_ids("Message-ID")[:1]),
        automated=True,
        correspondent=target["to"].lower(),
        raw=_raw(mail, place) | ({} if whole else {"truncated": True}),
    )


def _attachments(mail: Mail, place: Place) -> tuple[Attachment, ...]:
    message_ids = mail.headers.message_ids("Message-ID")
    return tuple(
        Attachment(
            name=each.name,
            mime_type=each.mime_type,
            source={
                "uidValidity": place.uid_validity,
                "uid": place.uid,
                "messageId": message_ids[0] if message_ids else "",
                "index": each.index,
            },
            size=len(each.content),
        )
        for each in mail.files
    )


def _raw(mail: Mail, place: Place) -> dict[str, Any]:
    return {
        "uidValidity": place.uid_validity,
        "uid": place.uid,
        **mail.headers.summary(),
    }


def unreadable(place: Place, key: str, reason: str) -> Event:
    """A mail that cannot be read: on record as failed, so that it is neither lost nor tried for ever."""
    return Event(
        key=key,
        session_id=key,
        sender=Sender(""),
        text="",
        target={},
        unreadable=reason,
        raw={"uidValidity": place.uid_validity, "uid": place.uid},
    )


def ignored_for(config: Config, mail: Mail) -> str | None:
    """Why a mail is not answered, None when it is."""
    return reason_not_to_answer(mail.headers, str(config["fromEmail"]))
