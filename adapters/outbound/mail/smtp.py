"""Hands one mail to an SMTP server (RFC 6409 submission), and says how that ended."""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPConnectError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientRefused,
    SMTPResponseException,
)

from adapters.outbound.mail.greeting import expects_plain_text, open_mail_socket, plain_text_behind
from adapters.outbound.mail.sockets import Security, TlsContexts, checked_tls
from domain.channels.messages import Outcome, Sent
from ports.http import Addresses, AddressRefused, HttpFailed

SMTP_TLS_PORT = 465
REFUSED_RECIPIENT = "refused the recipient"
_GREYLISTED = 60.0
"""Seconds to wait after 450 and 451, by which servers put a first try off (RFC 6647)."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where and how mail is handed in; without `username` there is no AUTH."""

    host: str
    port: int
    security: Security
    username: str = ""
    password: str = field(default="", repr=False)
    timeout: float = 30.0
    switch: str = "smtpSecure"
    """The field or setting that turns TLS from the start on."""


class Submission:
    """Sends mail over SMTP."""

    def __init__(self, addresses: Addresses, tls_contexts: TlsContexts = checked_tls) -> None:
        self._addresses = addresses
        self._tls_contexts = tls_contexts

    async def submit(self, server: SmtpServer, message: EmailMessage, sender: str, recipient: str) -> Sent:
        """Sends the mail to one recipient. Never raises for what the server or the network does."""
        progress = _Progress()
        try:
            client = await self._connect(server)
            try:
                await _send(client, message, sender, recipient, progress)
            finally:
                await _leave(client)
        except AddressRefused as failure:
            return Sent(Outcome.PERMANENT, str(failure))
        except HttpFailed as failure:
            return Sent(Outcome.TRANSIENT, str(failure))
        except (SMTPException, OSError, ValueError) as failure:
            return classify(failure, server, handed_over=progress.handed_over)
        return Sent(Outcome.SENT, ref=str(message["Message-ID"] or ""))

    async def try_login(self, server: SmtpServer) -> None:
        """Connects and logs in. Raises `HttpFailed`, `SMTPException` or `OSError`."""
        await _leave(await self._connect(server))

    async def _connect(self, server: SmtpServer) -> SMTP:
        connection = await open_mail_socket(
            self._addresses, server.host, server.port, server.timeout, server.security, server.switch
        )
        try:
            client = SMTP(
                hostname=server.host,
                sock=connection,
                timeout=server.timeout,
                use_tls=server.security is Security.IMPLICIT,
                start_tls=False if server.security is Security.IMPLICIT else _start_tls(server.security),
                tls_context=self._tls_contexts(),
                local_hostname=_greeting_name(connection.getsockname()[0]),
                username=server.username or None,
                password=server.password or None,
            )
            await client.connect()
        except BaseException:
            connection.close()
            raise
        return client


@dataclass(slots=True)
class _Progress:
    """`handed_over`: the mail itself went out, so the server may have taken it."""

    handed_over: bool = False


async def _send(
    client: SMTP, message: EmailMessage, sender: str, recipient: str, progress: _Progress
) -> None:
    international = not (sender.isascii() and recipient.isascii())
    if international and not client.supports_extension("smtputf8"):
        raise SMTPNotSupported("the server takes no addresses with characters beyond ASCII (SMTPUTF8)")
    content = message.as_bytes(policy=SMTP_POLICY.clone(cte_type="7bit", utf8=international))
    options = ["SMTPUTF8", "BODY=8BITMIME"] if international else None
    await client.mail(sender, options=options, encoding="utf-8")
    await client.rcpt(recipient, encoding="utf-8")
    progress.handed_over = True
    await client.data(content)


def _start_tls(security: Security) -> bool | None:
    return True if security is Security.STARTTLS else None


def _greeting_name(address: str) -> str:
    """An address literal (RFC 5321, 4.1.3): true everywhere, and needs no name lookup."""
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


async def _leave(client: SMTP) -> None:
    try:
        with contextlib.suppress(SMTPException, OSError):
            await client.quit(timeout=5)
    finally:
        client.close()


def classify(failure: Exception, server: SmtpServer, *, handed_over: bool) -> Sent:
    """What a failed exchange means for the mail. No secret of the server is in the detail."""
    where = f"{server.host}:{server.port}"
    if isinstance(failure, SMTPAuthenticationError):
        return _by_code(failure.code, f"{where} did not take the user name and password: {_words(failure)}")
    if isinstance(failure, SMTPRecipientRefused):
        return _by_code(failure.code, f"{where} {REFUSED_RECIPIENT}: {_words(failure)}")
    if isinstance(failure, SMTPResponseException):
        return _by_code(failure.code, f"{where} refused the mail: {_words(failure)}")
    if server.security is Security.IMPLICIT and plain_text_behind(failure):
        return Sent(Outcome.TRANSIENT, expects_plain_text(where, server.switch, SMTP_TLS_PORT))
    if "STARTTLS extension not supported" in str(failure):  # an SMTPException of no class of its own
        words = f"{where} does not offer STARTTLS; set {server.switch} to false to send without TLS"
        return Sent(Outcome.TRANSIENT, words)
    if isinstance(failure, ssl.SSLError) or isinstance(failure.__cause__, ssl.SSLError):
        return Sent(Outcome.TRANSIENT, f"TLS with {where} failed: {failure}")
    if isinstance(failure, (SMTPNotSupported, ValueError)):
        return Sent(Outcome.PERMANENT, f"{where}: {failure}")
    if handed_over and not isinstance(failure, SMTPConnectError):
        return Sent(Outcome.UNKNOWN, f"the connection to {where} broke while the mail was sent: {failure}")
    return Sent(Outcome.TRANSIENT, f"{where} cannot be reached: {failure}")


def _by_code(code: int, detail: str) -> Sent:
    if code in {450, 451}:
        return Sent(Outcome.RETRY_AFTER, detail, retry_after=_GREYLISTED)
    return Sent(Outcome.PERMANENT if code >= 500 else Outcome.TRANSIENT, detail)


def _words(failure: SMTPResponseException) -> str:
    return f"{failure.code} {' '.join(str(failure.message).split())}"[:300]
