"""One look into a mailbox: what is unread and new, as events. Runs in a thread."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.email.events import Memory, Place, event_of, ignored_for, unreadable
from adapters.outbound.channels.email.imap import CUT_MAIL, MAX_MAIL, MailBox
from adapters.outbound.mail.headers import session_of
from adapters.outbound.mail.mime import read_mail
from domain.channels.messages import Config, Event
from ports.channels import Polled

MAX_MAILS = 25
"""Mails of one poll; the rest follows at once in the next."""
MAX_BYTES = 2 * MAX_MAIL
"""Bytes of one poll."""


def look(box: MailBox, config: Config, cursor: Mapping[str, Any] | None, now: datetime) -> Polled:
    """What is UNSEEN and was not taken before.

    The stored cursor proves that the mails it calls taken are safe with us: those that are unread all the
    same (we stopped before saying so) are marked now.
    """
    memory = Memory.load(cursor, box.number_of("UIDVALIDITY"), _account(config), now)
    unseen = box.unseen()
    late = memory.taken.intersection(unseen)
    box.mark_seen(sorted(late))
    memory.taken = late
    fresh = [uid for uid in unseen if uid not in late]
    batch = _batch(box, fresh)
    found: list[Event] = []
    for uid, size in batch.items():
        event = _read(box, config, Place(memory.uid_validity, uid), size, memory, now)
        if event is not None:
            found.append(event)
        memory.take(uid)
    return Polled(found, memory.dump(), more=len(fresh) > len(batch))


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
    box: MailBox, config: Config, place: Place, size: int, memory: Memory, now: datetime
) -> Event | None:
    whole = size <= MAX_MAIL
    content = box.content(place.uid, None if whole else CUT_MAIL)
    if content is None:
        return None
    try:
        mail = read_mail(content)
        if ignored_for(config, mail) is not None:
            return None
        if not memory.admits(_thread(session_of(mail.headers, mail.key)), now):
            return None
        return event_of(config, mail, place, whole=whole)
    except Exception as failure:  # noqa: BLE001 - whatever it is, one mail must not stop the mailbox
        reason = f"the mail cannot be read: {type(failure).__name__}: {failure}"[:500]
        return unreadable(place, hashlib.sha256(content).hexdigest(), reason)


def _account(config: Config) -> str:
    """Names the mailbox; two of them may well have the same UIDVALIDITY."""
    named = "\0".join(str(config[name]).strip().lower() for name in ("imapHost", "imapPort", "username"))
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _thread(session_id: str) -> str:
    return hashlib.sha256(session_id.encode(errors="replace")).hexdigest()[:16]
