"""Runs IMAP work in a thread, over a connection that the address policy allows, within a time limit.

Waits for new mail over IDLE (RFC 2177) in the same way.
"""

import contextlib
import imaplib
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from imap_tools import ImapToolsError, MailboxTaggedResponseError

from adapters.outbound.mail.smtp import (
    Security,
    TlsContexts,
    is_plain_text_answer,
    open_mail_socket,
    plain_text_message,
)
from ports.capabilities import PollFailed
from ports.http import Addresses, AddressRefused, HttpFailed

from .config import IMAP_TLS_PORT, EmailConfig
from .imap import LoginRefused, MailBox, message_of

T = TypeVar("T")

IMAP_ERRORS = (ImapToolsError, imaplib.IMAP4.error, OSError, ValueError)
"""Errors of the server and the network."""

TLS_FIELD = "imapSecure"
"""The field that turns on TLS from the start."""
CONNECT_TIMEOUT = 20.0
"""Seconds to connect."""
WORK_TIMEOUT = 300.0
"""Seconds for all the work on one connection."""
MAX_CONCURRENT = 64
"""Mailboxes at a time, in threads of their own, so that servers that hang delay no other work."""

MAX_WATCHED = 100
"""Mailboxes that are watched at a time; each takes a thread. Others are polled by the interval."""
MAX_HUNG_UP = 3
"""How often in a row a server may end IDLE early; after that the mailbox is polled by the interval."""
MAX_IDLE = 29 * 60.0
"""Seconds after which IDLE must be renewed."""

Account = tuple[str, int, str]


class Mailboxes:
    """Opens mailboxes. Raises `PollFailed` with the server's own words, never with a password."""

    def __init__(self, hosts: Addresses, tls_contexts: TlsContexts) -> None:
        self._hosts = hosts
        self._tls_contexts = tls_contexts
        self._limiter = CapacityLimiter(MAX_CONCURRENT)

    async def work(
        self,
        config: EmailConfig,
        job: Callable[[MailBox], T],
        limiter: CapacityLimiter | None = None,
        timeout: float = WORK_TIMEOUT,
    ) -> T:
        """Runs `job` on the selected INBOX. A cancelled or late job has its connection cut."""
        tls = self._tls_contexts()
        host, port = config.imap_host.strip(), int(config.imap_port)
        where = f"{host}:{port}"
        try:
            connection = await open_mail_socket(
                self._hosts, host, port, CONNECT_TIMEOUT, config.imap_security, TLS_FIELD
            )
        except AddressRefused as failure:
            raise PollFailed(str(failure), fatal=True) from failure
        except HttpFailed as failure:
            raise PollFailed(str(failure)) from failure
        running = _RunningJob(connection, config, tls)
        try:
            with anyio.fail_after(timeout):
                return await to_thread.run_sync(
                    running.run, job, abandon_on_cancel=True, limiter=limiter or self._limiter
                )
        except TimeoutError as failure:
            raise PollFailed(f"{where} took too long") from failure
        except IMAP_ERRORS as failure:
            message = message_of(failure)
            if isinstance(failure, LoginRefused):
                refused = f"{where} did not take the user name and password: {message}"
                raise PollFailed(refused, fatal=failure.final) from failure
            if config.imap_security is Security.IMPLICIT and is_plain_text_answer(failure):
                raise PollFailed(plain_text_message(where, TLS_FIELD, IMAP_TLS_PORT)) from failure
            if isinstance(failure, ssl.SSLError):
                raise PollFailed(f"TLS with {where} failed: {message}") from failure
            raise PollFailed(f"{where}: {message}") from failure
        finally:
            running.cut()


class _RunningJob:
    """A job on a connection; `cut` ends both from outside the thread."""

    def __init__(self, connection: socket.socket, config: EmailConfig, tls: ssl.SSLContext) -> None:
        self._connection = connection
        self._config = config
        self._tls = tls
        self._handle = connection.dup()
        self._begun = False

    def run(self, job: Callable[[MailBox], T]) -> T:
        self._begun = True
        box: MailBox | None = None
        try:
            box = MailBox(self._connection, self._config, self._tls)
            box.enter()
            return job(box)
        finally:
            if box is not None:
                with contextlib.suppress(*IMAP_ERRORS):
                    box.leave()
            self._connection.close()

    def cut(self) -> None:
        """Shuts the connection down, which wakes a thread that waits on it."""
        with contextlib.suppress(OSError):
            self._handle.shutdown(socket.SHUT_RDWR)
        self._handle.close()
        if not self._begun:
            self._connection.close()


class _End(Enum):
    """How waiting ended; `HUNG_UP`: early and without a message."""

    NOT_OFFERED = 1
    NEWS = 2
    SILENCE = 3
    HUNG_UP = 4


class IdleWatcher:
    """Watches mailboxes. `uid_next` holds the UIDNEXT of the last poll by account: mail that came since is news."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes
        self.uid_next: dict[Account, int] = {}
        self._hung_up: Counter[Account] = Counter()
        self._limiter = CapacityLimiter(MAX_WATCHED)

    async def watch(self, config: EmailConfig, timeout: float) -> None:
        """Returns when there may be new mail; without IDLE, or with too many watched, after `timeout`.

        Raises `PollFailed` for a server that ends IDLE again and again: polling each time would flood it.
        """
        account = config.imap_account
        if self._limiter.available_tokens < 1:
            await anyio.sleep(timeout)
            return
        seconds = min(timeout, MAX_IDLE)
        uid_next = self.uid_next.get(account, 0)
        end = await self._mailboxes.work(
            config, lambda box: _idle(box, seconds, uid_next), self._limiter, seconds + 60
        )
        if end is _End.NOT_OFFERED:
            await anyio.sleep(timeout)
        self._hung_up[account] = self._hung_up[account] + 1 if end is _End.HUNG_UP else 0
        if self._hung_up[account] > MAX_HUNG_UP:
            raise PollFailed("the server ends IDLE at once, again and again")


def _idle(box: MailBox, seconds: float, uid_next: int) -> _End:
    """Waits until something happens in INBOX; returns at once when mail came since the last poll."""
    answer, data = box.client.capability()  # as announced after the login
    if answer != "OK" or b"IDLE" not in (data[-1] or b"").upper().split():
        return _End.NOT_OFFERED
    if uid_next and box.number_of("UIDNEXT") > uid_next:
        return _End.NEWS
    try:
        box.idle.start()  # type: ignore[no-untyped-call]
    except MailboxTaggedResponseError:  # the server had news before it took the command
        return _End.NEWS
    if _has_read_ahead(box):
        return _End.NEWS
    until = time.monotonic() + seconds
    responses = box.idle.poll(timeout=seconds)
    with contextlib.suppress(*IMAP_ERRORS):
        box.idle.stop()  # type: ignore[no-untyped-call]  # else the server would take LOGOUT for a part of IDLE
    if responses:
        return _End.NEWS
    return _End.HUNG_UP if time.monotonic() < until else _End.SILENCE


def _has_read_ahead(box: MailBox) -> bool:
    """Return True if an answer is in the read buffer already, where waiting on the socket would miss it."""
    reader = getattr(box.client, "file", None)  # absent from Python 3.14 on
    if reader is None:
        return False
    timeout = box.client.sock.gettimeout()
    box.client.sock.settimeout(0)
    try:
        return bool(reader.peek(1))
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    finally:
        box.client.sock.settimeout(timeout)
