"""The event of a mail."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.outbound.mail.authentication import authenticated_sender
from adapters.outbound.mail.headers import Headers
from domain.channels.messages import Attachment, Event, Identity, Quoted, Sender


def mail_event(
    headers: Headers,
    own_domains: Sequence[str],
    *,
    key: str,
    session_id: str,
    text: str,
    target: Mapping[str, Any],
    attachments: tuple[Attachment, ...],
    ids: tuple[str, ...],
    quoted: Quoted | None,
    raw: Mapping[str, Any],
) -> Event:
    """`own_domains` are those of the mailbox and its servers. A mail without a text hands on its subject."""
    reply_address = headers.reply_address()
    return Event(
        key=key,
        session_id=session_id,
        sender=_sender(headers, own_domains),
        text=text or headers.text("Subject"),
        target=target,
        attachments=attachments,
        ids=ids,
        quoted=quoted,
        automated=True,
        correspondent=reply_address.email.lower() if reply_address else "",
        raw={**headers.summary(), **raw},
    )


def _sender(headers: Headers, own_domains: Sequence[str]) -> Sender:
    sender = next(iter(headers.addresses("From")), None)
    authenticated = authenticated_sender(headers, own_domains)
    identities = (Identity("email", authenticated.email.lower()),) if authenticated else ()
    return Sender(sender.email.lower(), sender.name, identities) if sender else Sender("")


def unreadable(key: str, failure: Exception, raw: Mapping[str, Any]) -> Event:
    """The event of a mail that cannot be read: recorded as failed, so that it is neither lost nor tried again."""
    reason = f"the mail cannot be read: {type(failure).__name__}: {failure}"[:500]
    return Event(key=key, session_id=key, sender=Sender(""), text="", target={}, unreadable=reason, raw=raw)
