"""Email over IMAP and SMTP."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

import anyio
from aiosmtplib import SMTPException
from anyio import CapacityLimiter

from adapters.outbound.channels.email.definition import DEFINITION
from adapters.outbound.channels.email.imap import MailBox
from adapters.outbound.channels.email.limits import limits, read_limits
from adapters.outbound.channels.email.mailbox import IMAP_ERRORS, Mailboxes
from adapters.outbound.channels.email.polling import look
from adapters.outbound.channels.email.settings import smtp_security
from adapters.outbound.mail.compose import Body, compose_reply, render_body
from adapters.outbound.mail.connections import TlsContexts, checked_tls
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.smtp import SmtpServer, Submission, classify
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Attachment, Config, Event, OutboundMessage, Outcome, Sent, Target
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies, PlatformError, Polled, PollFailed
from ports.http import HttpFailed

MAX_WATCHED = 100
"""Mailboxes that are watched over IDLE at a time; each takes a thread. Others are polled by the interval."""
PROBE_TIMEOUT = 10.0
"""Seconds for trying both servers, while somebody waits for the answer."""
MAX_HUNG_UP = 3
"""How often in a row a server may end IDLE early; after that the interval is the rhythm."""
MAX_IDLE = 29 * 60.0
"""Seconds after which IDLE must be asked for anew (RFC 2177)."""


class Email:
    """Polls, ConfirmsPolls, Watches, Replies, Probed and Fetches of `ports.channels`."""

    default_interval_minutes = 5.0

    def __init__(self, dependencies: ChannelDependencies, tls_contexts: TlsContexts = checked_tls) -> None:
        self._clock = dependencies.clock
        self._mailboxes = Mailboxes(dependencies.hosts, tls_contexts)
        self._submission = Submission(dependencies.hosts, tls_contexts)
        self._expected: dict[tuple[str, ...], int] = {}
        self._hung_up: dict[tuple[str, ...], int] = {}
        self._watchers: CapacityLimiter | None = None

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """Takes what is unread, whenever it came."""

        def job(box: MailBox) -> Polled:
            self._expected[_account_key(config)] = box.number_of("UIDNEXT")
            return look(box, config, cursor, now)

        return await self._mailboxes.work(config, job)

    async def polled(self, config: Config, stored: Sequence[Event]) -> None:
        def job(box: MailBox) -> None:
            validity = box.number_of("UIDVALIDITY")
            box.mark_seen(
                int(event.raw["uid"]) for event in stored if event.raw.get("uidValidity") == validity
            )

        if stored:
            await self._mailboxes.work(config, job)

    async def watch(self, config: Config, timeout: float) -> None:
        """Waits for new mail over IDLE; without IDLE, or with too many watched, just for `timeout`."""
        if self._watchers is None:
            self._watchers = CapacityLimiter(MAX_WATCHED)
        if self._watchers.available_tokens < 1:
            await anyio.sleep(timeout)
            return
        seconds = min(timeout, MAX_IDLE)
        expected = self._expected.get(_account_key(config), 0)
        ended = await self._mailboxes.work(
            config, lambda box: _idle(box, seconds, expected), self._watchers, seconds + 60
        )
        if ended is _Idle.NOT_OFFERED:
            await anyio.sleep(timeout)
        self._note(_account_key(config), ended)

    def _note(self, account: tuple[str, ...], ended: _Idle) -> None:
        """Raises `PollFailed` for a server that hangs up again and again: looking each time would flood it."""
        self._hung_up[account] = self._hung_up.get(account, 0) + 1 if ended is _Idle.HUNG_UP else 0
        if self._hung_up[account] > MAX_HUNG_UP:
            raise PollFailed("the server ends IDLE at once, again and again")

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        body = render_body(answer)
        return [OutboundMessage({"plain": body.plain, "html": body.html})] if body else []

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    def read_limits(self, config: Config) -> Limits:
        return read_limits(config)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        body = Body(str(part.payload["plain"]), str(part.payload["html"]))
        own = str(config["fromEmail"]).strip()
        try:
            message = compose_reply(own, target, body, key, self._clock.now())
        except (ValueError, IndexError, KeyError) as failure:
            return Sent(Outcome.PERMANENT, f"the mail cannot be addressed: {failure}")
        return await self._submission.submit(_smtp(config), message, own, str(target["to"]))

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
        source = attachment.source

        def job(box: MailBox) -> bytes | None:
            uid: int | None = int(source["uid"])
            if box.number_of("UIDVALIDITY") != source["uidValidity"]:
                uid = box.find(str(source["messageId"])) if source["messageId"] else None
            raw = box.content(uid) if uid is not None else None
            files = read_mail(raw).files if raw is not None else ()
            return next((file.content for file in files if file.index == int(source["index"])), None)

        content = await self._mailboxes.work(config, job)
        if content is None:
            raise PlatformError("the mail with this file is no longer in the mailbox")
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]


def _account_key(config: Config) -> tuple[str, ...]:
    return str(config["imapHost"]), str(config["imapPort"]), str(config["username"])


def _smtp(config: Config) -> SmtpServer:
    return SmtpServer(
        host=str(config["smtpHost"]).strip(),
        port=int(config["smtpPort"]),
        security=smtp_security(config),
        username=str(config["username"]),
        password=str(config["password"]),
    )


class _Idle(Enum):
    """How waiting for news ended; `HUNG_UP`: early and without a word."""

    NOT_OFFERED = 1
    NEWS = 2
    SILENCE = 3
    HUNG_UP = 4


def _idle(box: MailBox, seconds: float, expected: int) -> _Idle:
    """Waits until something happens in INBOX; at once when mail came since the last poll."""
    if not box.can_idle:
        return _Idle.NOT_OFFERED
    if expected and box.number_of("UIDNEXT") > expected:
        return _Idle.NEWS
    if not box.idle_started():
        return _Idle.NEWS
    until = time.monotonic() + seconds
    told = box.idle.poll(timeout=seconds)
    with contextlib.suppress(*IMAP_ERRORS):
        box.idle.stop()  # type: ignore[no-untyped-call]  # else the server would take the farewell for a part of IDLE
    if told:
        return _Idle.NEWS
    return _Idle.HUNG_UP if time.monotonic() < until else _Idle.SILENCE


def build(dependencies: ChannelDependencies) -> Email:
    """The channel, wired with what the kit holds."""
    return Email(dependencies)
