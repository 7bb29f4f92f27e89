"""Polls a mailbox: what is unread and new, as events. Runs in a thread."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.email.config import EmailConfig
from adapters.outbound.channels.email.events import MailboxCursor, Position, event_of, unreadable
from adapters.outbound.channels.email.imap import CUT_MAIL, MAX_MAIL, MailBox
from adapters.outbound.mail.guards import reason_not_to_answer
from adapters.outbound.mail.headers import session_of
from adapters.outbound.mail.mime import read_mail
from domain.channels.messages import Event
from ports.capabilities import Polled

MAX_MAILS = 25
"""Mails of one poll; the rest follows at once in the next."""
MAX_BYTES = 2 * MAX_MAIL
"""Bytes of one poll."""


def poll(box: MailBox, config: EmailConfig, stored: Mapping[str, Any] | None, now: datetime) -> Polled:
    """What is UNSEEN and was not taken before.

    The mails that the stored cursor calls taken are stored with us: those that are unread all the same (the process
    ended before it marked them) are marked now.
    """
    cursor = MailboxCursor.load(stored, box.number_of("UIDVALIDITY"), _account(config), now)
    unseen = box.unseen()
    cursor.taken.intersection_update(unseen)
    box.mark_seen(sorted(cursor.taken))
    fresh = [uid for uid in unseen if uid not in cursor.taken]
    batch = _batch(box, fresh)
    events: list[Event] = []
    for uid, size in batch.items():
        event = _read(box, config, Position(cursor.uid_validity, uid), size, cursor, now)
        if event is not None:
            events.append(event)
        cursor.taken.add(uid)
    return Polled(events, cursor.dump(), more=len(fresh) > len(batch))


def _batch(box: MailBox, uids: list[int]) -> dict[int, int]:
    """The oldest UIDs with their sizes, as many as fit one poll, at least one."""
    chosen = uids[:MAX_MAILS]
    sizes = box.sizes(chosen) if chosen else {}
    batch: dict[int, int] = {}
    total = 0
    for uid in chosen:
        size = sizes.get(uid, 0)
        total += min(size, MAX_MAIL)
        if batch and total > MAX_BYTES:
            break
        batch[uid] = size
    return batch


def _read(
    box: MailBox, config: EmailConfig, position: Position, size: int, cursor: MailboxCursor, now: datetime
) -> Event | None:
    whole = size <= MAX_MAIL
    content = box.content(position.uid, None if whole else CUT_MAIL)
    if content is None:
        return None
    try:
        mail = read_mail(content)
        if reason_not_to_answer(mail.headers, config.from_email) is not None:
            return None
        if not cursor.admits(_thread(session_of(mail.headers, mail.key)), now):
            return None
        return event_of(config, mail, position, whole=whole)
    except Exception as failure:  # noqa: BLE001 - whatever it is, one mail must not stop the mailbox
        reason = f"the mail cannot be read: {type(failure).__name__}: {failure}"[:500]
        return unreadable(position, hashlib.sha256(content).hexdigest(), reason)


def _account(config: EmailConfig) -> str:
    """Identifies the mailbox; two of them may have the same UIDVALIDITY."""
    identity = "\0".join(map(str, config.imap_account))
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _thread(session_id: str) -> str:
    return hashlib.sha256(session_id.encode(errors="replace")).hexdigest()[:16]
