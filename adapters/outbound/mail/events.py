"""The event of a mail, and the optional fields of mail channels."""

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from adapters.outbound.mail.guards import authenticated_sender
from adapters.outbound.mail.headers import Headers
from adapters.outbound.mail.mime import Mail
from domain.channels.messages import Attachment, Event, Identity, Sender
from domain.channels.model import ConfigField
from domain.channels.typed import CommonConfig
from domain.values import iso_milliseconds

log = logging.getLogger(__name__)


def mail_event(
    mail: Mail,
    own_domains: Sequence[str],
    *,
    key: str,
    session_id: str,
    shared_threads: bool,
    target: Mapping[str, Any],
    attachments: tuple[Attachment, ...],
    ids: tuple[str, ...],
    raw: Mapping[str, Any],
) -> Event:
    """`own_domains` are those of the mailbox and its servers. A mail without a text hands on its subject.
    `session_id` is that of the thread, which `shared_threads` joins all its senders in."""
    headers, summary = mail.headers, mail.headers.summary()
    try:
        at = parsedate_to_datetime(headers.raw("Date") or "")
        date = iso_milliseconds(at if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, TypeError, OverflowError, IndexError):
        date = ""
    importance = {"importance": level} if (level := headers.importance()) else {}
    correspondent = ",".join(sorted(address.email.lower() for address in headers.reply_addresses()))
    return Event(
        key=key,
        session_id=session_id,
        sender=_sender(headers, own_domains),
        text=mail.text or headers.text("Subject"),
        target=target,
        attachments=attachments,
        ids=ids,
        quoted=mail.quoted,
        is_direct=not shared_threads,
        automated=True,
        correspondent=correspondent,
        separate_session_id="" if shared_threads or not correspondent else f"{session_id}:{correspondent}",
        context={
            name: value for name, value in {**summary, "date": date, "platform": importance}.items() if value
        },
        raw={**summary, **raw},
    )


def _sender(headers: Headers, own_domains: Sequence[str]) -> Sender:
    sender = next(iter(headers.addresses("From")), None)
    authenticated = authenticated_sender(headers, own_domains)
    identities = (Identity("email", authenticated.email.lower()),) if authenticated else ()
    return Sender(sender.email.lower(), sender.name, identities) if sender else Sender("")


def unreadable(key: str, failure: Exception, raw: Mapping[str, Any]) -> Event:
    """The event of a mail that cannot be read: recorded as failed, so that it is neither lost nor tried again."""
    log.warning("a mail cannot be read", exc_info=failure)
    reason = "the mail cannot be read: it is damaged"
    return Event(key=key, session_id=key, sender=Sender(""), text="", target={}, unreadable=reason, raw=raw)


_KEPT = "Left out: it is kept in a list, and can be released."
SHARED_THREADS = ConfigField(
    "sharedThreads",
    "boolean",
    "true: all senders of a mail thread share one conversation. Left out: a conversation belongs to whoever began "
    "the thread, and other senders of it have conversations of their own.",
)
ANSWER_LISTS = ConfigField(
    "answerLists", "boolean", f"true: mail of mailing lists and bulk mail is answered. {_KEPT}"
)
ANSWER_AUTOMATIC = ConfigField(
    "answerAutomatic",
    "boolean",
    "true: mail that programs send by themselves is answered, such as that of web forms; automatic answers too. "
    + _KEPT,
)
ANSWER_NO_REPLY = ConfigField(
    "answerNoReply",
    "boolean",
    f"true: mail is answered whose answer goes to an address such as no-reply@example.com. {_KEPT}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailConfig(CommonConfig):
    shared_threads: bool = field(default=False, metadata={"field": SHARED_THREADS})
    answer_lists: bool = field(default=False, metadata={"field": ANSWER_LISTS})
    answer_automatic: bool = field(default=False, metadata={"field": ANSWER_AUTOMATIC})
    answer_no_reply: bool = field(default=False, metadata={"field": ANSWER_NO_REPLY})

    @property
    def answered_reasons(self) -> Set[str]:
        """The reasons not to answer a mail that do not count."""
        reasons = {
            "list": self.answer_lists,
            "bulk": self.answer_lists,
            "auto-submitted": self.answer_automatic,
            "auto-reply": self.answer_automatic,
            "no-reply": self.answer_no_reply,
        }
        return {reason for reason, is_answered in reasons.items() if is_answered}
