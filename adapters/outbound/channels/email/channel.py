"""Email over IMAP and SMTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import anyio
from aiosmtplib import SMTPException

from adapters.outbound.channels.common.files import pieces
from adapters.outbound.channels.email.definition import DEFINITION
from adapters.outbound.channels.email.idle import IdleWatcher
from adapters.outbound.channels.email.imap import MailBox
from adapters.outbound.channels.email.limits import limits, read_limits
from adapters.outbound.channels.email.mailbox import Mailboxes
from adapters.outbound.channels.email.polling import poll
from adapters.outbound.channels.email.settings import smtp_security
from adapters.outbound.mail.compose import compose_reply, mail_messages
from adapters.outbound.mail.connections import TlsContexts, checked_tls
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.smtp import SmtpServer, Submission, classify
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Attachment, Config, Event, OutboundMessage, Outcome, Sent, Target
from domain.channels.typed import RAW
from ports.capabilities import PlatformError, Polled, PollFailed
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpFailed

PROBE_TIMEOUT = 10.0
"""Seconds for checking both servers, while a caller waits for the answer."""


class Email:
    """Polls, ConfirmsPolls, PushWatcher, Replies, Probed and Fetches of `ports.channels`."""

    default_interval_minutes = 5.0

    def __init__(self, dependencies: ChannelDependencies, tls_contexts: TlsContexts = checked_tls) -> None:
        self._clock = dependencies.clock
        self._mailboxes = Mailboxes(dependencies.hosts, tls_contexts)
        self._submission = Submission(dependencies.hosts, tls_contexts)
        self._watcher = IdleWatcher(self._mailboxes)

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """Takes what is unread, whenever it came."""

        def job(box: MailBox) -> Polled:
            self._watcher.uid_next[_account(config)] = box.number_of("UIDNEXT")
            return poll(box, config, cursor, now)

        return await self._mailboxes.work(config, job)

    async def acknowledge(self, config: Config, stored: Sequence[Event]) -> None:
        def job(box: MailBox) -> None:
            validity = box.number_of("UIDVALIDITY")
            box.mark_seen(
                int(event.raw["uid"]) for event in stored if event.raw.get("uidValidity") == validity
            )

        if stored:
            await self._mailboxes.work(config, job)

    async def watch(self, config: Config, timeout: float) -> None:
        await self._watcher.watch(config, _account(config), timeout)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return mail_messages(answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    def read_limits(self, config: Config) -> Limits:
        return read_limits(config)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        own = str(config["fromEmail"]).strip()
        try:
            mail = compose_reply(own, target, part, key, self._clock.now())
        except (ValueError, IndexError, KeyError) as failure:
            return Sent(Outcome.PERMANENT, f"the mail cannot be addressed: {failure}")
        return await self._submission.submit(_smtp(config), mail, own, str(target["to"]))

    async def probe(self, config: Config) -> None:
        try:
            with anyio.fail_after(PROBE_TIMEOUT):
                await self._probe(config)
        except TimeoutError as failure:
            raise PlatformError("the mail servers did not answer in time") from failure

    async def _probe(self, config: Config) -> None:
        try:
            await self._mailboxes.work(config, MailBox.unseen)
        except PollFailed as failure:
            raise PlatformError(f"IMAP: {failure}") from failure
        server = _smtp(config)
        try:
            await self._submission.try_login(server)
        except HttpFailed as failure:
            raise PlatformError(f"SMTP: {failure}") from failure
        except (SMTPException, OSError, ValueError) as failure:
            detail = classify(failure, server, handed_over=False).detail
            raise PlatformError(f"SMTP: {detail}") from failure

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        content = await self._mailboxes.work(config, lambda box: _file(box, attachment.source))
        if content is None:
            raise PlatformError("the mail with this file is no longer in the mailbox")
        for piece in pieces(content):
            yield piece


def _file(box: MailBox, source: Mapping[str, Any]) -> bytes | None:
    """The content of a file; None when the mail is gone. After a new UIDVALIDITY it is found by its Message-ID."""
    uid: int | None = int(source["uid"])
    if box.number_of("UIDVALIDITY") != source["uidValidity"]:
        uid = box.find(str(source["messageId"])) if source["messageId"] else None
    raw = box.content(uid) if uid is not None else None
    files = read_mail(raw).files if raw is not None else ()
    return next((file.content for file in files if file.index == int(source["index"])), None)


def _account(config: Config) -> tuple[str, ...]:
    return str(config["imapHost"]), str(config["imapPort"]), str(config["username"])


def _smtp(config: Config) -> SmtpServer:
    return SmtpServer(
        host=str(config["smtpHost"]).strip(),
        port=int(config["smtpPort"]),
        security=smtp_security(config),
        username=str(config["username"]),
        password=str(config["password"]),
    )


def build(
    dependencies: ChannelDependencies, tls_contexts: TlsContexts = checked_tls
) -> Channel[Config, Target]:
    channel = Email(dependencies, tls_contexts)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        sender=channel,
        limits=channel,
        read_limits=channel,
        poller=channel,
        poll_ack=channel,
        push_watcher=channel,
        probe=channel,
        fetcher=channel,
    )
