"""Connections to mail servers that a user named: only to addresses that the outbound policy allows.

A plain mail server speaks first (RFC 9051, 7.1.5; RFC 5321, 3.1); one with TLS from the start (RFC 8314) waits for a
ClientHello. Where the configuration and the server disagree, both sides would wait until the time is up.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from enum import Enum
from functools import cache

from adapters.system_errors import system_reason
from ports.http import Address, Addresses, HttpFailed

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
        try:
            return await _connected(address, timeout)
        except OSError as error:  # TimeoutError is one of them
            failure = error
    reason = (failure and system_reason(failure)) or "no answer in time"
    raise HttpFailed(f"{host}:{port} cannot be reached: {reason}", before_request=True) from failure


async def _connected(address: Address, timeout: float) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        async with asyncio.timeout(timeout):
            await asyncio.get_running_loop().sock_connect(connection, (address.host, address.port))
    except BaseException:
        connection.close()
        raise
    return connection


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
