"""A blocking IMAP connection (RFC 9051), used from a thread; hardened against what a hostile server does."""

from __future__ import annotations

import contextlib
import imaplib
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from imap_tools import BaseMailBox, MailboxLoginError, MailboxTaggedResponseError

from adapters.outbound.mail.connections import Security

MAX_LITERAL = 64 * 1024 * 1024
"""Bytes that a server may send at once."""
MAX_MAIL = 32 * 1024 * 1024
"""Bytes of a mail that are read; of a longer one only the beginning."""
CUT_MAIL = 1024 * 1024
"""Bytes that are read of a mail over `MAX_MAIL`."""


_FINAL = ("[AUTHENTICATIONFAILED]", "[AUTHORIZATIONFAILED]", "[EXPIRED]", "[PRIVACYREQUIRED]")


class LoginRefused(imaplib.IMAP4.error):
    """The server did not take the login. `final`: it says that the account or password itself is wrong
    (RFC 5530), not that it is busy."""

    @property
    def final(self) -> bool:
        return any(code in str(self).upper() for code in _FINAL)


@dataclass(frozen=True, slots=True)
class ImapAccount:
    """Whose INBOX, and how the way to it is protected; `timeout` in seconds for each answer."""

    host: str
    security: Security
    username: str
    password: str
    tls: ssl.SSLContext
    timeout: float


class _Client(imaplib.IMAP4):
    """imaplib over a socket that is already connected to an allowed address."""

    def __init__(self, connection: socket.socket, account: ImapAccount) -> None:
        self._connection = connection
        self._account = account
        super().__init__(account.host, 0, account.timeout)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        self._connection.settimeout(timeout)
        if self._account.security is Security.IMPLICIT:
            return self._account.tls.wrap_socket(self._connection, server_hostname=self._account.host)
        return self._connection

    def read(self, size: int) -> bytes:
        if size > MAX_LITERAL:
            raise self.abort(f"the server announced {size} bytes at once")
        return super().read(size)


class MailBox(BaseMailBox):
    """INBOX of an account, logged in and selected."""

    def __init__(self, connection: socket.socket, account: ImapAccount) -> None:
        self._connection = connection
        self._account = account
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        client = _Client(self._connection, self._account)
        try:
            self._protect(client)
        except BaseException:
            with contextlib.suppress(OSError):
                client.shutdown()
            raise
        return client

    def _protect(self, client: imaplib.IMAP4) -> None:
        offered = "STARTTLS" in client.capabilities
        if self._account.security is Security.STARTTLS and not offered:
            raise imaplib.IMAP4.error(
                "the server does not offer STARTTLS; set imapSecure to false to do without"
            )
        if offered and self._account.security is not Security.IMPLICIT:
            client.starttls(self._account.tls)

    def enter(self) -> None:
        """Logs in and selects INBOX."""
        account = self._account
        if any(c in "\r\n\0" for c in account.username + account.password):
            raise imaplib.IMAP4.error("username and password must not contain line breaks")
        login = self.login if (account.username + account.password).isascii() else self.login_utf8
        try:
            login(account.username, account.password, initial_folder=None)
        except imaplib.IMAP4.abort:
            raise
        except (MailboxLoginError, imaplib.IMAP4.error) as failure:
            raise LoginRefused(words_of(failure)) from failure
        self.folder.set("INBOX")

    def leave(self) -> None:
        """Logs out and closes the connection, whatever state it is in."""
        try:
            self.client.logout()
        finally:
            self.client.shutdown()

    def number_of(self, code: str) -> int:
        """A number that SELECT answered, such as UIDVALIDITY; 0 when the server did not say."""
        _, values = self.client.response(code)
        first = values[0] if values else None
        return int(first) if first and first.isdigit() else 0

    def unseen(self) -> list[int]:
        """UIDs of unread mail, ascending."""
        found = self.uids("UNSEEN UNDELETED", charset=None)
        return sorted(int(uid) for uid in found if uid.isdigit())

    def sizes(self, uids: Iterable[int]) -> dict[int, int]:
        """RFC822.SIZE by UID."""
        sizes: dict[int, int] = {}
        for item in self._fetch(",".join(map(str, uids)), "(UID RFC822.SIZE)"):
            fields = item if isinstance(item, bytes) else item[0]
            uid, size = _number(fields, b"UID"), _number(fields, b"RFC822.SIZE")
            if uid is not None and size is not None:
                sizes[uid] = size
        return sizes

    def content(self, uid: int, limit: int | None = None) -> bytes | None:
        """The mail without marking it as read, its first `limit` bytes; None when it is gone."""
        section = "BODY.PEEK[]" if limit is None else f"BODY.PEEK[]<0.{limit}>"
        for item in self._fetch(str(uid), f"(UID {section})"):
            if isinstance(item, tuple):
                return bytes(item[1])
        return None

    def find(self, message_id: str) -> int | None:
        """The UID of a mail by its Message-ID."""
        quoted = message_id.replace("\\", "\\\\").replace('"', '\\"')
        found = self.uids(f'HEADER Message-ID "{quoted}"', charset=None)
        return int(found[-1]) if found else None

    def mark_seen(self, uids: Iterable[int]) -> None:
        """Sets \\Seen."""
        listed = ",".join(map(str, uids))
        if listed:
            self._checked(self.client.uid("STORE", listed, "+FLAGS.SILENT", r"(\Seen)"))

    @property
    def can_idle(self) -> bool:
        """Whether the server tells of new mail (RFC 2177), as announced after the login."""
        answer, data = self.client.capability()
        words = data[-1] if answer == "OK" and data else b""
        return b"IDLE" in (words or b"").upper().split()

    def idle_started(self) -> bool:
        """Begins IDLE. False when the server had news before it took the command, or in the same breath."""
        try:
            self.idle.start()  # type: ignore[no-untyped-call]
        except MailboxTaggedResponseError:
            return False
        return not self._has_read_ahead()

    def _has_read_ahead(self) -> bool:
        """Whether an answer lies in the read buffer already, where waiting on the socket would miss it."""
        reader = getattr(self.client, "file", None)  # absent from Python 3.14 on
        if reader is None:
            return False
        self.client.sock.settimeout(0)
        try:
            return bool(reader.peek(1))
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self.client.sock.settimeout(self._account.timeout)

    def _fetch(self, uids: str, parts: str) -> list[Any]:
        return [item for item in self._checked(self.client.uid("FETCH", uids, parts)) if item is not None]

    @staticmethod
    def _checked(answer: tuple[str, list[Any]]) -> list[Any]:
        status, data = answer
        if status != "OK":
            raise imaplib.IMAP4.error(_text(data))
        return data


def _number(fields: bytes, name: bytes) -> int | None:
    words = fields.replace(b"(", b" ").replace(b")", b" ").split()
    for index, word in enumerate(words[:-1]):
        if word.upper() == name and words[index + 1].isdigit():
            return int(words[index + 1])
    return None


def _text(data: object) -> str:
    return " ".join(str(data).split())[:300]


def words_of(failure: Exception) -> str:
    """A failure in the server's words, without what we sent."""
    if isinstance(failure, MailboxLoginError):
        return _text(failure.command_result[1][0].decode("utf-8", "replace"))
    if failure.args and isinstance(failure.args[0], bytes):
        return _text(failure.args[0].decode("utf-8", "replace"))
    return _text(failure)
