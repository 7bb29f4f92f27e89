"""Composes mail: replies with RFC 5322 threading and RFC 3834 marking, text with an HTML alternative, new threads."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from textwrap import shorten
from typing import TypeVar
from urllib.parse import quote

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.mail.headers import Headers, message_id, reply_subject, thread_id
from adapters.outbound.rendering.model import Markup
from adapters.outbound.rendering.rendering import render
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.typed import ChannelTarget, stored_as
from domain.refusals import Fault, Invalid
from domain.values import value
from ports.capabilities import Opened, OpenRequest

MAX_REFERENCES = 30
"""Ids kept in References: the first and the newest."""

MAX_FIRST_SUBJECT = 200
_MARKS = re.compile(r"([\\\[\]*_`<>&])")
_URL_SAFE = "%/:=&?~#+!$,;'@()*[]"


class _MessageIds(UnstructuredHeader, BaseHeader):
    """Message-IDs, one on each line: the library would write a long one as an encoded word, which is not allowed
    (RFC 2047, 5)."""

    max_count = 1

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {f'{policy.linesep} '.join(str(self).split())}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("in-reply-to", _MessageIds)
_HEADERS.map_to_type("references", _MessageIds)
_POLICY = SMTP.clone(header_factory=_HEADERS)


@value
class MailTarget(ChannelTarget):
    """The answered mail: `to` and `name` of its sender, `others` that the answer goes to as well, subject and thread.

    `opened`: no mail is answered; the new one begins the thread that `references` names.
    """

    to: str = ""
    name: str = ""
    subject: str = ""
    in_reply_to: str = stored_as("inReplyTo")
    references: tuple[str, ...] = ()
    opened: bool = False
    others: tuple[str, ...] = ()

    def recipients(self, own_address: str) -> list[tuple[str, str]]:
        """Addresses and names without the own address."""
        own = own_address.strip().lower()
        everybody = [(self.to, self.name), *((address, "") for address in self.others)]
        return [(to, name) for to, name in everybody if to.lower() != own] or everybody[:1]


R = TypeVar("R", bound=MailTarget)


def reply_target(headers: Headers, target: Callable[..., R]) -> R:
    """The target of a reply to the mail, made with `target`."""
    to, *others = headers.reply_addresses() or (None,)
    own = headers.message_ids("Message-ID")
    earlier = headers.message_ids("References") or headers.message_ids("In-Reply-To")[:1]
    references = tuple(dict.fromkeys((*earlier, *own)))
    if len(references) > MAX_REFERENCES:
        references = (references[0], *references[1 - MAX_REFERENCES :])
    return target(
        to=to.email if to else "",
        name=to.name if to else "",
        subject=headers.text("Subject"),
        in_reply_to=own[0] if own else "",
        references=references,
        others=tuple(address.email for address in others if address),
    )


def mail_messages(answer: Answer) -> list[OutboundMessage]:
    """The Markdown answer as plain text and as HTML, its files as download links below; none for nothing."""
    links = []
    for artifact in answer.artifacts:
        name = _MARKS.sub(r"\\\1", " ".join(artifact.name.split()))
        links.append(f"- [{name}](<{quote(artifact.url, safe=_URL_SAFE)}>)")
    markdown = "\n\n".join(filter(None, (answer.text.strip(), "\n".join(links))))
    rendered = render(Markup.EMAIL, markdown, None)[:1]
    return [OutboundMessage({"plain": document.plain, "html": document.text}) for document in rendered]


def compose_reply(
    own_address: str, target: MailTarget, message: OutboundMessage, key: str, at: datetime
) -> EmailMessage:
    """The reply to the mail of `target`, or the mail that begins its thread. Raises `ValueError` for an invalid
    address."""
    plain = str(message.payload["plain"])
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = header_address(own_address.strip())
    mail["To"] = [header_address(to, name[:200]) for to, name in target.recipients(own_address)]
    if target.opened:  # the subject as given, else the beginning of the text
        text = " ".join((target.subject or plain.strip().partition("\n")[0]).split())
        mail["Subject"] = shorten(text, MAX_FIRST_SUBJECT, placeholder="\N{HORIZONTAL ELLIPSIS}")
    else:
        mail["Subject"] = reply_subject(target.subject)
    mail["Date"] = format_datetime(at)
    mail["Message-ID"] = message_id(key, own_address, target.references)
    if in_reply_to := _ascii_ids([target.in_reply_to]):
        mail["In-Reply-To"] = in_reply_to
    if references := _ascii_ids(target.references):
        mail["References"] = references
    mail["Auto-Submitted"] = "auto-generated" if target.opened else "auto-replied"
    mail["X-Auto-Response-Suppress"] = "All"
    set_body(mail, plain, str(message.payload["html"]))
    return mail


def set_body(mail: EmailMessage, plain: str, html: str) -> None:
    mail.set_content(plain, subtype="plain", charset="utf-8")
    mail.add_alternative(html, subtype="html", charset="utf-8")


def header_address(address: str, name: str = "") -> Address:
    """An address with the name of its owner. Raises `ValueError` for an invalid one.

    The library takes a local part beyond ASCII (RFC 6531) only apart from its domain, and unchecked: what it checks
    is the address with plain letters in their place.
    """
    plain = "".join(c if c.isascii() else "x" for c in address)
    try:
        checked = Address(name, addr_spec=plain)
    except (MessageError, IndexError) as failure:
        raise ValueError(str(failure)) from failure
    if address.isascii():
        return checked
    local, _, domain = address.rpartition("@")
    return Address(name, username=local, domain=domain)


def _ascii_ids(message_ids: Iterable[str]) -> str:
    """The ids that a header may hold without SMTPUTF8."""
    return " ".join(message_id for message_id in message_ids if message_id and message_id.isascii())


ADDRESS = "a mail address such as ann@example.com, without a name"
MAX_SUBJECT = 200
_ADDRESS = re.compile(
    r"[^\s@<>()\[\],;:\\\"\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?"
)


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
