"""Polls a mailbox: the unread and new mails as events. Runs in a thread."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from adapters.outbound.mail.compose import MailTarget, reply_target
from adapters.outbound.mail.events import mail_event, unreadable
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import session_of
from adapters.outbound.mail.mime import Mail, read_mail
from domain.channels.messages import Attachment, Event
from ports.capabilities import Polled

from .config import TARGET, EmailConfig, taken_from
from .mailbox import CUT_MAIL, MAX_MAIL, MailBox

MAX_MAILS = 25
"""Mails of one poll; the rest follows at once in the next."""
MAX_BYTES = 2 * MAX_MAIL
"""Bytes of one poll."""
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


def event_of(config: EmailConfig, mail: Mail, position: dict[str, int], *, is_complete: bool = True) -> Event:
    """The event of a mail. `position` is its `uidValidity` and `uid`. `is_complete` False: only the beginning was
    read, so its files cannot be fetched."""
    message_ids = mail.headers.message_ids("Message-ID")[:1]
    source = {**position, "messageId": "".join(message_ids)}
    return mail_event(
        mail,
        config.own_domains,
        key=mail.key,
        session_id=session_of(mail.headers, mail.key),
        shared_threads=config.shared_threads,
        target=TARGET.dump(reply_target(mail.headers, MailTarget)),
        attachments=tuple(
            Attachment(file.name, file.mime_type, {**source, "index": file.index}, len(file.content))
            if is_complete
            else Attachment(file.name, file.mime_type, {})
            for file in mail.files
        ),
        ids=message_ids,
        raw=position | ({} if is_complete else {"truncated": True}),
    )


THREAD_LIMIT = "thread-limit"
"""Why mails of a thread are not answered that brought too many within an hour."""


def poll(
    box: MailBox, config: EmailConfig, stored: Mapping[str, Any] | None, now: datetime, created: datetime
) -> Polled:
    """Reads mail that is UNSEEN, was not taken before, and is not older than `EmailConfig.since`.

    The mails that the stored cursor names as taken are stored with us: those that are still unread (the process ended
    before it marked them) are marked now.
    """
    # Two mailboxes may have the same UIDVALIDITY.
    account = _digest("\0".join(map(str, config.imap_account)))
    cursor = MailboxCursor.load(stored, box.number_of("UIDVALIDITY"), account, now)
    unseen = box.unseen(taken_from(config.since, created))
    cursor.taken.intersection_update(unseen)
    box.mark_seen(sorted(cursor.taken))
    fresh = [uid for uid in unseen if uid not in cursor.taken]
    chosen = fresh[:MAX_MAILS]
    sizes = box.sizes(chosen) if chosen else {}
    batch: dict[int, int] = {}  # the oldest UIDs with their sizes, as many as fit one poll, at least one
    total = 0
    for uid in chosen:
        total += min(sizes.get(uid, 0), MAX_MAIL)
        if batch and total > MAX_BYTES:
            break
        batch[uid] = sizes.get(uid, 0)
    events: list[Event] = []
    unanswered: list[Event] = []
    for uid, size in batch.items():
        message = _read(box, config, uid, size, cursor, now)
        if message is not None:
            (unanswered if message.refused else events).append(message)
        cursor.taken.add(uid)
    return Polled(events, cursor.dump(), more=len(fresh) > len(batch), unanswered=unanswered)


def _read(
    box: MailBox, config: EmailConfig, uid: int, size: int, cursor: MailboxCursor, now: datetime
) -> Event | None:
    is_complete = size <= MAX_MAIL
    content = box.content(uid, None if is_complete else CUT_MAIL)
    if content is None:
        return None
    position = {"uidValidity": cursor.uid_validity, "uid": uid}
    try:
        mail = read_mail(content)
        reason = reason_not_to_answer(mail.headers, config.from_email, config.answered_reasons)
        if reason is None and not cursor.admits(_digest(session_of(mail.headers, mail.key)), now):
            reason = THREAD_LIMIT
        event = event_of(config, mail, position, is_complete=is_complete)
        return event if reason is None else replace(event, refused=reason)
    except Exception as failure:  # noqa: BLE001 - whatever it is, one mail must not stop the mailbox
        return unreadable(hashlib.sha256(content).hexdigest(), failure, position)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
