"""A mailbox over IMAP (RFC 9051): a blocking connection, hardened against what a hostile server does, and work on it
in a thread, within a time limit; waiting for new mail (IDLE, RFC 2177).
"""

import contextlib
import imaplib
import re
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from imap_tools import BaseMailBox, ImapToolsError, MailboxLoginError, MailboxTaggedResponseError

from adapters.outbound.mail import smtp
from adapters.system_errors import system_reason
from ports.capabilities import PollFailed
from ports.http import Addresses, AddressRefused, HttpFailed

from .config import IMAP_TLS_PORT, EmailConfig

ANSWER_TIMEOUT = 20.0
"""Seconds for each answer of the server."""
MAX_LITERAL = 64 * 1024 * 1024
"""Bytes that a server may send at once."""
MAX_MAIL = 32 * 1024 * 1024
"""Bytes of a mail that are read; of a longer one only the beginning."""
CUT_MAIL = 1024 * 1024
"""Bytes that are read of a mail over `MAX_MAIL`."""


_UID = re.compile(rb"\bUID (\d+)", re.IGNORECASE)
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d+)", re.IGNORECASE)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ANY_ZONE = timedelta(days=1)
"""SINCE disregards time and zone (RFC 9051, 6.4.4)."""
_AT_ONCE = 500
"""UIDs in one command."""
_FINAL = ("[AUTHENTICATIONFAILED]", "[AUTHORIZATIONFAILED]", "[EXPIRED]", "[PRIVACYREQUIRED]")


class LoginRefused(imaplib.IMAP4.error):
    """The server refused the login. `final`: the account or password itself is wrong (RFC 5530)."""

    @property
    def final(self) -> bool:
        return any(code in str(self).upper() for code in _FINAL)


class _Client(imaplib.IMAP4):
    """imaplib over a socket that is already connected to an allowed address."""

    def __init__(self, connection: socket.socket, config: EmailConfig, tls: ssl.SSLContext) -> None:
        self._connection = connection
        self._security = config.imap_security
        self._tls = tls
        super().__init__(config.imap_host.strip(), 0, ANSWER_TIMEOUT)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        self._connection.settimeout(timeout)
        if self._security is smtp.Security.IMPLICIT:
            return self._tls.wrap_socket(self._connection, server_hostname=self.host)
        return self._connection

    def protect(self) -> None:
        """Turns on TLS by STARTTLS, as the account demands it or the server offers it."""
        offered = "STARTTLS" in self.capabilities
        if self._security is smtp.Security.STARTTLS and not offered:
            raise self.error("the server does not offer STARTTLS; set imapSecure to false to do without")
        if offered and self._security is not smtp.Security.IMPLICIT:
            self.starttls(self._tls)

    def read(self, size: int) -> bytes:
        if size > MAX_LITERAL:
            raise self.abort(f"the server announced {size} bytes at once")
        return super().read(size)


class MailBox(BaseMailBox):
    """INBOX of an account, logged in and selected."""

    def __init__(self, connection: socket.socket, config: EmailConfig, tls: ssl.SSLContext) -> None:
        self._connection = connection
        self._config = config
        self._tls = tls
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        client = _Client(self._connection, self._config, self._tls)
        try:
            client.protect()
        except BaseException:
            with contextlib.suppress(OSError):
                client.shutdown()
            raise
        return client

    def enter(self) -> None:
        """Logs in and selects INBOX."""
        username, password = self._config.username, self._config.password
        if any(character in "\r\n\0" for character in username + password):
            raise imaplib.IMAP4.error("username and password must not contain line breaks")
        login = self.login if (username + password).isascii() else self.login_utf8
        try:
            login(username, password, initial_folder=None)
        except imaplib.IMAP4.abort:
            raise
        except (MailboxLoginError, imaplib.IMAP4.error) as failure:
            raise LoginRefused(message_of(failure)) from failure
        self.folder.set("INBOX")

    def leave(self) -> None:
        """Logs out and closes the connection, whatever state it is in."""
        try:
            self.client.logout()
        finally:
            self.client.shutdown()

    def number_of(self, code: str) -> int:
        """A number that SELECT answered, such as UIDVALIDITY; 0 without one."""
        _, values = self.client.response(code)
        first = values[0] if values else None
        return int(first) if first and first.isdigit() else 0

    def unseen(self, since: datetime | None = None) -> list[int]:
        """UIDs of unread mail that arrived since then, ascending."""
        if since is None:
            return self._found("UNSEEN UNDELETED")
        day = (since - _ANY_ZONE).strftime(f"%d-{_MONTHS[(since - _ANY_ZONE).month - 1]}-%Y")
        arrived = self.arrivals(self._found(f"UNSEEN UNDELETED SINCE {day}"))
        return [uid for uid, at in arrived.items() if at >= since]

    def _found(self, criteria: str) -> list[int]:
        return sorted(int(uid) for uid in self.uids(criteria, charset=None) if uid.isdigit())

    def arrivals(self, uids: Sequence[int]) -> dict[int, datetime]:
        """INTERNALDATE by UID, in the order of the UIDs."""
        arrived: dict[int, datetime] = {}
        for first in range(0, len(uids), _AT_ONCE):
            chunk = ",".join(map(str, uids[first : first + _AT_ONCE]))
            for item in self._fetch(chunk, "(UID INTERNALDATE)"):
                fields = item if isinstance(item, bytes) else item[0]
                uid, at = _UID.search(fields), imaplib.Internaldate2tuple(fields)
                if uid and at:
                    arrived[int(uid[1])] = datetime.fromtimestamp(time.mktime(at), UTC)
        return dict(sorted(arrived.items()))

    def sizes(self, uids: Iterable[int]) -> dict[int, int]:
        """RFC822.SIZE by UID."""
        sizes: dict[int, int] = {}
        for item in self._fetch(",".join(map(str, uids)), "(UID RFC822.SIZE)"):
            fields = item if isinstance(item, bytes) else item[0]
            uid, size = _UID.search(fields), _SIZE.search(fields)
            if uid and size:
                sizes[int(uid[1])] = int(size[1])
        return sizes

    def content(self, uid: int, limit: int | None = None) -> bytes | None:
        """The mail without marking it as read, its first `limit` bytes; None when it is gone."""
        section = "BODY.PEEK[]" if limit is None else f"BODY.PEEK[]<0.{limit}>"
        items = self._fetch(str(uid), f"(UID {section})")
        return next((bytes(item[1]) for item in items if isinstance(item, tuple)), None)

    def find(self, message_id: str) -> int | None:
        """The UID of a mail by its Message-ID."""
        quoted = message_id.replace("\\", "\\\\").replace('"', '\\"')
        uids = self.uids(f'HEADER Message-ID "{quoted}"', charset=None)
        return int(uids[-1]) if uids else None

    def mark_seen(self, uids: Iterable[int]) -> None:
        joined = ",".join(map(str, uids))
        if joined:
            self._checked(self.client.uid("STORE", joined, "+FLAGS.SILENT", r"(\Seen)"))

    def _fetch(self, uids: str, parts: str) -> list[Any]:
        return [item for item in self._checked(self.client.uid("FETCH", uids, parts)) if item is not None]

    @staticmethod
    def _checked(answer: tuple[str, list[Any]]) -> list[Any]:
        status, data = answer
        if status != "OK":
            raise imaplib.IMAP4.error(_one_line(data))
        return data


def message_of(failure: Exception) -> str:
    """The server's message, without what we sent."""
    if isinstance(failure, MailboxLoginError):
        return _one_line(failure.command_result[1][0].decode("utf-8", "replace"))
    if failure.args and isinstance(failure.args[0], bytes):
        return _one_line(failure.args[0].decode("utf-8", "replace"))
    return _one_line((isinstance(failure, OSError) and system_reason(failure)) or failure)


def _one_line(data: object) -> str:
    return " ".join(str(data).split())[:300]


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

    def __init__(self, hosts: Addresses, tls_contexts: smtp.TlsContexts) -> None:
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
            connection = await smtp.open_mail_socket(
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
            if config.imap_security is smtp.Security.IMPLICIT and smtp.is_plain_text_answer(failure):
                raise PollFailed(smtp.plain_text_message(where, TLS_FIELD, IMAP_TLS_PORT)) from failure
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
