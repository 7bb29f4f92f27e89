"""Real mail servers for tests: pymap for IMAP, aiosmtpd for SMTP, and throw-away certificates."""

import imaplib
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.ports import free_port
from tests.support.waiting import until

USER = "agent@example.com"
PASSWORD = "secret"


@dataclass(frozen=True)
class Certificate:
    """A server certificate for localhost and 127.0.0.1, signed by itself."""

    chain: Path
    key: Path

    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain, self.key)
        return context

    def client(self) -> ssl.SSLContext:
        """Trusts this certificate alone."""
        return ssl.create_default_context(cafile=str(self.chain))


def make_certificate(folder: Path) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    made = Certificate(folder / "server.pem", folder / "server.key")
    made.chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made


class Mailbox:
    """The mailbox of a running server, as its owner's mail program sees it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._client: imaplib.IMAP4 | None = None

    @contextmanager
    def open(self) -> Iterator[imaplib.IMAP4]:
        if self._client is None:
            self._client = imaplib.IMAP4("127.0.0.1", self.port)
            self._client.login(USER, PASSWORD)
        self._client.select("INBOX")
        yield self._client

    def leave(self) -> None:
        if self._client is not None:
            self._client.logout()

    def put(self, *mails: bytes, flags: str = "", at: datetime | None = None) -> None:
        """Puts mails into the mailbox, as if they had arrived then."""
        arrived = imaplib.Time2Internaldate(at) if at else None
        with self.open() as client:
            for mail in mails:
                status, answer = client.append("INBOX", flags, arrived, mail)  # type: ignore[arg-type]
                assert status == "OK", answer

    def uids(self, criteria: str = "ALL") -> Sequence[int]:
        with self.open() as client:
            return [int(uid) for uid in client.uid("SEARCH", criteria)[1][0].split()]

    def flag(self, uid: int, change: str, flag: str) -> None:
        with self.open() as client:
            client.uid("STORE", str(uid), change, f"({flag})")

    def empty(self) -> None:
        with self.open() as client:
            client.uid("STORE", "1:*", "+FLAGS", "(\\Deleted)")
            client.expunge()


@contextmanager
def imap_server(certificate: Certificate | None = None) -> Iterator[Mailbox]:
    """A pymap process with one mailbox; with a certificate it offers STARTTLS."""
    port = free_port()
    tls = ["--cert", str(certificate.chain), "--key", str(certificate.key)] if certificate else ["--no-tls"]
    command = [sys.executable, "-c", "import sys; from pymap.main import main; sys.exit(main())"]
    options = ["--host", "127.0.0.1", "--port", str(port), *tls]
    account = ["dict", "--demo-user", USER, "--demo-password", PASSWORD]
    process = subprocess.Popen(
        [*command, *options, *account], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    mailbox = Mailbox(port)
    try:
        until(lambda: _greets(port, process), "the IMAP server answers")
        yield mailbox
    finally:
        mailbox.leave()
        process.terminate()
        process.wait(60)


def _greets(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the IMAP server did not start"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            return connection.recv(4).startswith(b"* OK")
    except OSError:
        return False


@dataclass
class Postbox:
    """An SMTP server's handler: keeps what it takes, and answers as a test tells it."""

    mails: list[Message] = field(default_factory=list)
    envelopes: list[Envelope] = field(default_factory=list)
    secured: list[bool] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    port: int = 0
    auth: bool = True

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any
    ) -> str:
        if self.auth and not session.authenticated:
            return "530 5.7.0 Authentication required"
        if "MAIL" in self.answers:
            return self.answers["MAIL"]
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any
    ) -> str:
        if "RCPT" in self.answers:
            return self.answers["RCPT"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        from email import message_from_bytes
        from email.policy import default

        answer = self.answers.get("DATA", "250 OK")
        if answer == "drop":
            server.transport.abort()
            return "250 OK"
        if answer.startswith("250"):
            assert isinstance(envelope.content, bytes)
            self.mails.append(message_from_bytes(envelope.content, policy=default))  # type: ignore[arg-type]
            self.envelopes.append(envelope)
            self.secured.append(session.ssl is not None)
        return answer


def code_in(mail: Message, kind: str = "plain") -> str:
    """The one-time code that stands in the mail's text, or in its HTML."""
    body = mail.get_body((kind,))  # type: ignore[attr-defined]
    found = set(re.findall(r"\b\d{6}\b", body.get_content()))
    assert len(found) == 1
    return str(found.pop())


def text_of(mail: Message) -> str:
    """The plain text of a mail."""
    body = mail.get_body(("plain",))  # type: ignore[attr-defined]
    return str(body.get_content())


def _login(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    good = LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=data == good, handled=False)


class _SmtpServer(Controller):
    """Hangs up when it stops, also on who looked whether it has started: an open connection would be left behind."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._connections: list[SMTP] = []

    def factory(self) -> SMTP:
        made: SMTP = super().factory()
        self._connections.append(made)
        return made

    def cancel_tasks(self, stop_loop: bool = True) -> None:
        for each in self._connections:
            if each.transport is not None:
                each.transport.abort()
        super().cancel_tasks(stop_loop)


@contextmanager
def smtp_server(
    certificate: Certificate | None = None, *, implicit: bool = False, auth: bool = True
) -> Iterator[Postbox]:
    """An SMTP server: plain, with STARTTLS (required before AUTH), or with TLS from the start."""
    postbox = Postbox(port=free_port(), auth=auth)
    starttls = certificate is not None and not implicit
    controller = _SmtpServer(
        postbox,
        hostname="127.0.0.1",
        port=postbox.port,
        ssl_context=certificate.server() if certificate and implicit else None,
        tls_context=certificate.server() if certificate and starttls else None,
        require_starttls=starttls,
        authenticator=_login if auth else None,
        auth_require_tls=starttls,
        ready_timeout=60,
    )
    controller.start()
    try:
        yield postbox
    finally:
        controller.stop()
