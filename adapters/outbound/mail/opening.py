"""Opens mail threads for messages that answer none."""

import re
from collections.abc import Callable
from typing import TypeVar

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.mail.compose import MailTarget, header_address
from adapters.outbound.mail.threads import thread_id
from domain.refusals import Fault, Invalid
from ports.capabilities import Opened, OpenRequest

ADDRESS = "a mail address such as ann@example.com, without a name"
MAX_SUBJECT = 200
_ADDRESS = re.compile(
    r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?"
)

R = TypeVar("R", bound=MailTarget)


def opened_mail(domain: str, secret: str, request: OpenRequest, target: Callable[..., R]) -> Opened[R]:
    """The thread with the person about the subject, its target made with `target`; `domain` and `secret` as of
    `thread_id`. Raises `Invalid`."""
    to = read_address(_ADDRESS, request.to, ADDRESS)[0]
    try:
        header_address(to)
    except ValueError as failure:
        raise no_address(f"is no valid mail address: {failure}") from failure
    subject = request.subject.strip()
    if len(subject) > MAX_SUBJECT or not subject.isprintable():
        reason = f"must be one line of at most {MAX_SUBJECT} characters, without control characters"
        raise Invalid.of([Fault("subject", reason)])
    thread = thread_id(domain, secret, to, subject)
    return Opened(thread, target(to=to, subject=subject, references=(thread,), opened=True))
