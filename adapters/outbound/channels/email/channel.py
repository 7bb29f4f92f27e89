"""Email over IMAP and SMTP."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import anyio
from aiosmtplib import SMTPException

from adapters.outbound.channels.common.addresses import NoDefaultAddress
from adapters.outbound.channels.common.bodies import at
from adapters.outbound.channels.common.files import pieces
from adapters.outbound.mail.compose import ADDRESS, MailTarget, compose_reply, mail_messages, opened_mail
from adapters.outbound.mail.guards import REASONS
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.smtp import Submission, TlsContexts, checked_tls, classify
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Attachment, Event, Outcome, Sent
from domain.refusals import TooLarge
from ports.capabilities import Opened, OpenRequest, PlatformError, Polled, PollFailed
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpFailed
from ports.system import Clock

from .config import CONFIG, DEFINITION, TARGET, EmailConfig, taken_from
from .mailbox import MAX_MAIL, IdleWatcher, MailBox, Mailboxes
from .polling import THREAD_LIMIT, poll

PROBE_TIMEOUT = 10.0
"""Seconds for checking both servers, while a caller waits for the answer."""
MOST_DATED = 2000
"""Unread mails whose dates are compared for the oldest one."""
MAX_CONCURRENCY = 2
"""Connections of an account at a time. Each provider has its own limit (Dovecot 10, Exim 20 for all senders by
default), and the mail programs of the mailbox's owner count too."""


@dataclass(frozen=True, slots=True)
class Email(NoDefaultAddress):
    """All capabilities of the channel but IDLE."""

    mailboxes: Mailboxes
    watcher: IdleWatcher
    submission: Submission
    clock: Clock
    default_interval_minutes: float = 5.0
    address: str = ADDRESS

    async def poll(
        self, config: EmailConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """Takes what is unread, whenever it came."""

        def job(box: MailBox) -> Polled:
            self.watcher.uid_next[config.imap_account] = box.number_of("UIDNEXT")
            return poll(box, config, cursor, now, since)

        return await self.mailboxes.work(config, job)

    async def acknowledge(self, config: EmailConfig, stored: Sequence[Event]) -> None:
        def job(box: MailBox) -> None:
            validity = box.number_of("UIDVALIDITY")
            box.mark_seen(
                int(at(event.raw, "uid")) for event in stored if event.raw.get("uidValidity") == validity
            )

        if stored:
            await self.mailboxes.work(config, job)

    def read_limits(self, config: EmailConfig) -> Limits:
        """Those of the IMAP server. The connection that waits for news (IDLE) is not counted."""
        account = f"imap {config.imap_host.strip().lower()} {config.username}"
        return Limits(account, max_concurrency=MAX_CONCURRENCY)

    async def fetch(self, config: EmailConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        source = attachment.source
        if not source:
            raise TooLarge(f"a mail with files may have {MAX_MAIL // 2**20} MB at most")

        def job(box: MailBox) -> bytes | None:
            """After a new UIDVALIDITY the mail is found by its Message-ID."""
            uid: int | None = int(at(source, "uid"))
            if box.number_of("UIDVALIDITY") != source["uidValidity"]:
                uid = box.find(str(source["messageId"])) if source["messageId"] else None
            raw = box.content(uid) if uid is not None else None
            files = read_mail(raw).files if raw is not None else ()
            return next((file.content for file in files if file.index == int(at(source, "index"))), None)

        content = await self.mailboxes.work(config, job)
        if content is None:
            raise PlatformError("the mail with this file is no longer in the mailbox")
        for piece in pieces(content):
            yield piece

    def render(self, config: EmailConfig, target: MailTarget, answer: Answer) -> Sequence[OutboundMessage]:
        return mail_messages(answer)

    def limits(self, config: EmailConfig, target: MailTarget) -> Limits:
        account = f"{config.smtp_host.strip().lower()} {config.username}"
        return Limits(account, target.to, max_concurrency=MAX_CONCURRENCY)

    async def open(self, config: EmailConfig, request: OpenRequest) -> Opened[MailTarget]:
        domain = config.from_email.strip().rpartition("@")[2]
        return opened_mail(domain, config.password, request, MailTarget)

    async def send(self, config: EmailConfig, target: MailTarget, message: OutboundMessage, key: str) -> Sent:
        own = config.from_email.strip()
        try:
            mail = compose_reply(own, target, message, key, self.clock.now())
            recipients = [to for to, _ in target.recipients(own)]
        except (ValueError, IndexError) as failure:
            reason = f"the mail cannot be addressed: {failure}"
            return Sent(Outcome.PERMANENT, reason, of_recipient=True)
        return await self.submission.submit(config.smtp_server, mail, own, *recipients)

    async def probe(self, config: EmailConfig) -> str | None:
        """Tries both servers. Returns how much unread mail lies in the mailbox, and from when."""
        now = self.clock.now()
        since = taken_from(config.since, now)
        try:
            with anyio.fail_after(PROBE_TIMEOUT):
                unread = await self.mailboxes.work(config, lambda box: _unread(box, since))
                try:
                    await self.submission.try_login(config.smtp_server)
                except HttpFailed as failure:
                    raise PlatformError(f"SMTP: {failure}") from failure
                except (SMTPException, OSError, ValueError) as failure:
                    detail = classify(failure, config.smtp_server, handed_over=False).detail
                    raise PlatformError(f"SMTP: {detail}") from failure
        except PollFailed as failure:
            raise PlatformError(f"IMAP: {failure}", transient=not failure.fatal) from failure
        except TimeoutError as failure:
            raise PlatformError("the mail servers did not answer in time", transient=True) from failure
        if since is not None and since > now:
            until = (
                f"since is {since:%Y-%m-%d %H:%M} UTC, which is still to come: mail is left alone until then"
            )
            return f"{unread}; {until}" if unread else until
        return unread


def _unread(box: MailBox, since: datetime | None) -> str | None:
    """Returns a sentence on the unread mail of the mailbox, None if there is no such mail."""
    uids = box.unseen()
    if not uids:
        return None
    mails = "1 unread mail lies" if len(uids) == 1 else f"{len(uids)} unread mails lie"
    oldest = min(box.arrivals(uids[:MOST_DATED]).values(), default=None)
    sentence = f"{mails} in the mailbox" + (f", the oldest of {oldest:%Y-%m-%d}" if oldest else "")
    if since is None:
        return f"{sentence}: all of them are answered, as since is not set"
    answered = len(box.unseen(since))
    return f"{sentence}: {answered} of them came since {since:%Y-%m-%d %H:%M} UTC and are answered"


def build(
    dependencies: ChannelDependencies, tls_contexts: TlsContexts = checked_tls
) -> Channel[EmailConfig, MailTarget]:
    mailboxes = Mailboxes(dependencies.hosts, tls_contexts)
    submission = Submission(dependencies.hosts, tls_contexts)
    watcher = IdleWatcher(mailboxes)
    email = Email(mailboxes, watcher, submission, dependencies.clock)
    return Channel(
        definition=DEFINITION,
        first_line_decides=True,
        config=CONFIG,
        target=TARGET,
        sender=email,
        opener=email,
        limits=email,
        read_limits=email,
        poller=email,
        refusals=(*REASONS, THREAD_LIMIT),
        poll_ack=email,
        push_watcher=watcher,
        probe=email,
        fetcher=email,
    )
