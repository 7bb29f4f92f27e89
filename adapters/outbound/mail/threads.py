"""Ids of mails and of threads that we open.

A thread that we open has an id of its own in References, in front of the ids of its mails: mail programs repeat it in
each answer (RFC 5322, 3.6.4), so that the session is known before a mail is sent, and stays the same for one person
and subject. Where a program names only the mail that it answers, the id of that mail tells the thread.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable

OWN_PREFIX = "switchboard."
"""How the local part of our own ids begins."""
_DIGEST = "[0-9a-f]{40}"
_OPENED = re.compile(
    rf"<{re.escape(OWN_PREFIX)}(?:thread|{_DIGEST})\.(?P<thread>{_DIGEST})@(?P<domain>[^<>\s@]+)>"
)
"""The id of an opened thread, or of a mail in it."""


def thread_id(domain: str, secret: str, to: str, subject: str) -> str:
    """The id of the thread with a person about a subject. `secret` keeps others from guessing it."""
    digest = hmac.digest(secret.encode(), f"{to.lower()}\n{subject}".encode(), "sha256").hex()
    return f"<{OWN_PREFIX}thread.{digest[:40]}@{domain.lower()}>"


def message_id(key: str, own_address: str, references: Iterable[str] = ()) -> str:
    """The Message-ID of a mail: the same at every attempt, and recognisable as ours when it comes back."""
    digest = hashlib.sha256(key.encode()).hexdigest()[:40]
    opened = _OPENED.fullmatch(next(iter(references), ""))
    thread = f".{opened['thread']}" if opened else ""
    return f"<{OWN_PREFIX}{digest}{thread}@{own_address.rpartition('@')[2].strip().lower()}>"


def opened_thread(id: str, domain: str = "") -> str | None:
    """The id of the thread that we opened, found by its own id or by that of a mail in it; None for any other id.
    `domain` is that of the thread's id where it is not the mail's."""
    opened = _OPENED.fullmatch(id)
    return f"<{OWN_PREFIX}thread.{opened['thread']}@{domain or opened['domain']}>" if opened else None
