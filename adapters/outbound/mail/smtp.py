"""Connections to mail servers that a user named: only to addresses that the outbound policy allows.

A plain mail server speaks first (RFC 9051, 7.1.5; RFC 5321, 3.1); one with TLS from the start (RFC 8314) waits for a
ClientHello. Where the configuration and the server disagree, both sides would wait until the time is up.

Submits mail to an SMTP server (RFC 6409) and classifies the outcome.
"""

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from enum import Enum
from functools import cache

import aiosmtplib

from adapters.system_errors import system_reason
from domain.channels.messages import Outcome, Sent
from ports.http import Addresses, AddressRefused, HttpFailed

TlsContexts = Callable[[], ssl.SSLContext]

GREETING_TIMEOUT = 3.0
"""Seconds that a greeting may take before TLS is tried. A server that greets later gets a second connection, which
waits for as long as it takes."""
HANDSHAKE_TIMEOUT = 3.0
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL")
"""OpenSSL's names of errors for an answer that is not TLS."""


@cache
def checked_tls() -> ssl.SSLContext:
    """Checks the server's certificate and name against the system's authorities, or SSL_CERT_FILE's."""
    return ssl.create_default_context()


class Security(Enum):
    """How a connection is protected."""

    IMPLICIT = "TLS from the first byte"
    STARTTLS = "STARTTLS, required"
    OPPORTUNISTIC = "STARTTLS when the server offers it"


class WrongSecurity(HttpFailed):
    """The server expects TLS from the start, and the configuration does not."""


async def open_mail_socket(
    addresses: Addresses, host: str, port: int, timeout: float, security: Security, tls_field: str
) -> socket.socket:
    """A connected TCP socket (non-blocking) to the first reachable allowed address of `host`.

    Raises `HttpFailed` (also `AddressRefused`, `WrongSecurity`), its `before_request` set. `tls_field` is the field
    or setting that turns on TLS from the start.
    """
    connection = await _open_socket(addresses, host, port, timeout)
    if security is Security.IMPLICIT:
        return connection
    try:
        if await _greets(connection):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()  # a server may serve one connection at a time
    if await _speaks_tls(addresses, host, port):
        raise WrongSecurity(
            f"The server did not greet within {GREETING_TIMEOUT:g} seconds: {host}:{port} expects TLS from the"
            f" start; set {tls_field} to true",
            before_request=True,
        )
    return await _open_socket(addresses, host, port, timeout)


def is_plain_text_answer(failure: BaseException | None) -> bool:
    """Return True if TLS failed because the server answered in plain text."""
    while failure is not None:
        message = str(failure).upper().replace(" ", "_")
        if isinstance(failure, ssl.SSLError) and any(name in message for name in _NOT_TLS):
            return True
        failure = failure.__cause__ or failure.__context__
    return False


def plain_text_message(server: str, tls_field: str, tls_port: int) -> str:
    """The error message for a server ('host:port') that answers in plain text where TLS was expected."""
    problem = f"{server} answered in plain text"
    if server.endswith(f":{tls_port}"):
        return f"{problem}, but port {tls_port} stands for TLS from the start; give another port"
    return f"{problem}, not in TLS: set {tls_field} to false, or give the port for TLS ({tls_port})"


async def _open_socket(addresses: Addresses, host: str, port: int, timeout: float) -> socket.socket:
    failure: OSError | None = None
    for address in await addresses.resolve_allowed(host, port):
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.get_running_loop().sock_connect(connection, (address.host, address.port))
        except OSError as error:  # TimeoutError is one of them
            connection.close()
            failure = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    reason = (failure and system_reason(failure)) or "no answer in time"
    raise HttpFailed(f"{host}:{port} cannot be reached: {reason}", before_request=True) from failure


async def _greets(connection: socket.socket) -> bool:
    """Return True if the server sends something, or hangs up, in time. Nothing is read."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        async with asyncio.timeout(GREETING_TIMEOUT):
            await readable.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(connection)
    return True


async def _speaks_tls(addresses: Addresses, host: str, port: int) -> bool:
    """Return True if the server answers the handshake of another connection in TLS. Nothing is sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the question is only whether there is TLS
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT):
            connection = await _open_socket(addresses, host, port, HANDSHAKE_TIMEOUT)
            with contextlib.closing(connection):
                _, writer = await asyncio.open_connection(sock=connection, ssl=context, server_hostname=host)
                writer.transport.abort()
    except ssl.SSLError as error:
        return "ALERT" in str(error).upper()  # it refuses our handshake, but in TLS
    except (OSError, HttpFailed):  # TimeoutError is an OSError
        return False
    return True


SMTP_TLS_PORT = 465
REFUSED_RECIPIENT = "refused the recipient"
_OF_SERVER = re.compile(r"\b[45]\.[367]\.\d|relay|authenticat", re.IGNORECASE)
"""A recipient that is refused since the server takes no mail of ours: enhanced status codes of the mail system, the
content and security policies (RFC 3463), or the words of servers without them."""
_GREYLISTED = 60.0
"""Seconds to wait after 450 and 451, with which servers defer a first attempt (RFC 6647)."""


_START_TLS = {Security.IMPLICIT: False, Security.STARTTLS: True, Security.OPPORTUNISTIC: None}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A server for submission; without `username` there is no AUTH."""

    host: str
    port: int
    security: Security
    username: str = ""
    password: str = field(default="", repr=False)
    timeout: float = 30.0
    tls_field: str = "smtpSecure"
    """The field or setting that turns on TLS from the start."""

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Submission:
    """Sends mail over SMTP."""

    addresses: Addresses
    tls_contexts: TlsContexts = checked_tls

    async def submit(self, server: SmtpServer, message: EmailMessage, sender: str, *recipients: str) -> Sent:
        """Sends the mail to its recipients, of whom the server takes at least one. Never raises for errors of the
        server or the network."""
        handed_over = False
        try:
            client = await self._connect(server)
            try:
                content = await _announce(client, message, sender, recipients)
                handed_over = True
                await client.data(content)
            finally:
                await _quit(client)
        except AddressRefused as failure:
            return Sent(Outcome.PERMANENT, str(failure))
        except HttpFailed as failure:
            return Sent(Outcome.TRANSIENT, str(failure))
        except (aiosmtplib.SMTPException, OSError, ValueError) as failure:
            return classify(failure, server, handed_over=handed_over)
        return Sent(Outcome.SENT, ref=str(message["Message-ID"] or ""))

    async def try_login(self, server: SmtpServer) -> None:
        """Connects and logs in. Raises `HttpFailed`, `SMTPException` or `OSError`."""
        await _quit(await self._connect(server))

    async def _connect(self, server: SmtpServer) -> aiosmtplib.SMTP:
        connection = await open_mail_socket(
            self.addresses, server.host, server.port, server.timeout, server.security, server.tls_field
        )
        own = connection.getsockname()[0]
        try:
            client = aiosmtplib.SMTP(
                hostname=server.host,
                sock=connection,
                timeout=server.timeout,
                use_tls=server.security is Security.IMPLICIT,
                start_tls=_START_TLS[server.security],
                tls_context=self.tls_contexts(),
                # an address literal (RFC 5321, 4.1.3): true everywhere, and needs no name lookup
                local_hostname=f"[IPv6:{own}]" if ":" in own else f"[{own}]",
                username=server.username or None,
                password=server.password or None,
            )
            await client.connect()
        except BaseException:
            connection.close()
            raise
        return client


async def _announce(
    client: aiosmtplib.SMTP, message: EmailMessage, sender: str, recipients: Sequence[str]
) -> bytes:
    """Names the sender and the recipients, and gives the content to send."""
    international = not all(address.isascii() for address in (sender, *recipients))
    if international and not client.supports_extension("smtputf8"):
        raise aiosmtplib.SMTPNotSupported(
            "the server takes no addresses with characters beyond ASCII (SMTPUTF8)"
        )
    content = message.as_bytes(policy=SMTP_POLICY.clone(cte_type="7bit", utf8=international))
    options = ["SMTPUTF8", "BODY=8BITMIME"] if international else None
    await client.mail(sender, options=options, encoding="utf-8")
    refused: list[aiosmtplib.SMTPResponseException] = []
    for recipient in recipients:
        try:
            await client.rcpt(recipient, encoding="utf-8")
        except aiosmtplib.SMTPResponseException as failure:
            refused.append(failure)
    if len(refused) == len(recipients):
        raise refused[0]
    return content


async def _quit(client: aiosmtplib.SMTP) -> None:
    try:
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await client.quit(timeout=5)
    finally:
        client.close()


def classify(failure: Exception, server: SmtpServer, *, handed_over: bool) -> Sent:
    """The outcome of a failed exchange. The detail contains no secret of the server."""
    where = server.where
    if isinstance(failure, aiosmtplib.SMTPResponseException):
        return _by_code(failure, where)
    if server.security is Security.IMPLICIT and is_plain_text_answer(failure):
        return Sent(Outcome.TRANSIENT, plain_text_message(where, server.tls_field, SMTP_TLS_PORT))
    if "STARTTLS extension not supported" in str(failure):  # it has no class of its own
        message = f"{where} does not offer STARTTLS; set {server.tls_field} to false to send without TLS"
        return Sent(Outcome.TRANSIENT, message)
    if any(isinstance(error, ssl.SSLError) for error in (failure, failure.__cause__)):
        return Sent(Outcome.TRANSIENT, f"TLS with {where} failed: {failure}")
    if isinstance(failure, (aiosmtplib.SMTPNotSupported, ValueError)):
        return Sent(Outcome.PERMANENT, f"{where}: {failure}")
    return _broken(failure, where, handed_over=handed_over)


def _broken(failure: Exception, where: str, *, handed_over: bool) -> Sent:
    reason = (isinstance(failure, OSError) and system_reason(failure)) or str(failure)
    if handed_over and not isinstance(failure, aiosmtplib.SMTPConnectError):
        return Sent(Outcome.UNKNOWN, f"the connection to {where} broke while the mail was sent: {reason}")
    return Sent(Outcome.TRANSIENT, f"{where} cannot be reached: {reason}")


def _by_code(failure: aiosmtplib.SMTPResponseException, where: str) -> Sent:
    problem = "refused the mail"
    if isinstance(failure, aiosmtplib.SMTPAuthenticationError):
        problem = "did not take the user name and password"
    elif isinstance(failure, aiosmtplib.SMTPRecipientRefused):
        problem = REFUSED_RECIPIENT
    detail = f"{where} {problem}: {failure.code} {' '.join(str(failure.message).split())[:300]}"
    of_recipient = problem == REFUSED_RECIPIENT and not _OF_SERVER.search(str(failure.message))
    if failure.code in {450, 451}:
        return Sent(Outcome.RETRY_AFTER, detail, retry_after=_GREYLISTED, of_recipient=of_recipient)
    outcome = Outcome.PERMANENT if failure.code >= 500 else Outcome.TRANSIENT
    return Sent(outcome, detail, of_recipient=of_recipient)
