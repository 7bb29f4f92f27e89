"""A blocking IMAP connection (RFC 9051), used from a thread; hardened against what a hostile server does."""

import contextlib
import imaplib
import re
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from imap_tools import BaseMailBox, MailboxLoginError

from adapters.outbound.mail.smtp import Security
from adapters.system_errors import system_reason

from .config import EmailConfig

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
        if self._security is Security.IMPLICIT:
            return self._tls.wrap_socket(self._connection, server_hostname=self.host)
        return self._connection

    def protect(self) -> None:
        """Turns on TLS by STARTTLS, as the account demands it or the server offers it."""
        offered = "STARTTLS" in self.capabilities
        if self._security is Security.STARTTLS and not offered:
            raise self.error("the server does not offer STARTTLS; set imapSecure to false to do without")
        if offered and self._security is not Security.IMPLICIT:
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
        """Sets \\Seen."""
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
