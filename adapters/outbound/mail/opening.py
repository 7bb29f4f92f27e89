"""Opens mail threads for messages that answer none.

A thread has an id of its own in References, in front of the ids of its mails: mail programs repeat it in each answer
(RFC 5322, 3.6.4), so that the session is known before a mail is sent, and stays the same for one person and subject.
"""

import hmac
import re
from collections.abc import Callable
from typing import TypeVar

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.mail.compose import MailTarget, header_address
from adapters.outbound.mail.guards import OWN_PREFIX
from adapters.outbound.mail.headers import Headers
from domain.refusals import Fault, Invalid
from ports.reply_capabilities import Opened, OpenRequest

ADDRESS = "a mail address such as ann@example.com, without a name"
MAX_SUBJECT = 200
_ADDRESS = re.compile(
    r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?"
)
_THREAD = re.compile(rf"<{re.escape(OWN_PREFIX)}thread\.[0-9a-f]{{40}}@[^<>\s]+>")

R = TypeVar("R", bound=MailTarget)


def opened_mail(domain: str, secret: str, request: OpenRequest, target: Callable[..., R]) -> Opened[R]:
    """The thread with the person about the subject, its target made with `target`. `domain` is that of its id, and
    `secret` keeps others from guessing it. Raises `Invalid`."""
    to = read_address(_ADDRESS, request.to, ADDRESS)[0]
    try:
        header_address(to)
    except ValueError as failure:
        raise no_address(f"is no valid mail address: {failure}") from failure
    subject = request.subject.strip()
    if len(subject) > MAX_SUBJECT or not all(character.isprintable() for character in subject):
        reason = f"must be one line of at most {MAX_SUBJECT} characters, without control characters"
        raise Invalid.of([Fault("subject", reason)])
    digest = hmac.digest(secret.encode(), f"{to.lower()}\n{subject}".encode(), "sha256").hex()
    thread = f"<{OWN_PREFIX}thread.{digest[:40]}@{domain.lower()}>"
    return Opened(thread, target(to=to, subject=subject, references=(thread,), opened=True))


def thread_of(headers: Headers) -> str | None:
    """The id of the thread that we opened and to which a mail belongs."""
    first = next(iter(headers.message_ids("References")), "")
    return first if _THREAD.fullmatch(first) else None
