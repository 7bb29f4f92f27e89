"""Recognises a mail server that speaks TLS where plain text was expected, or plain text where TLS was.

A plain mail server speaks first (RFC 9051, 7.1.5; RFC 5321, 3.1); one with TLS from the start (RFC 8314) waits for a
ClientHello, so both sides would wait until the time is up.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from adapters.outbound.mail.sockets import Security, open_socket
from ports.http import Addresses, HttpFailed

PATIENCE = 3.0
"""Seconds that a greeting may take before TLS is tried. Servers that delay it on purpose take longer and are not
taken for others: a second connection waits for as long as it takes."""
HANDSHAKE = 3.0
"""Seconds that trying TLS may take."""
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL")
"""What OpenSSL says of an answer that is no TLS record."""


class WrongSecurity(HttpFailed):
    """The configuration and the server disagree about TLS from the start."""


async def open_mail_socket(
    addresses: Addresses, host: str, port: int, timeout: float, security: Security, switch: str
) -> socket.socket:
    """A connected socket as `open_socket` gives it.

    Raises `WrongSecurity` too, when plain text is expected and the port speaks TLS. `switch` is the field or setting
    that turns TLS from the start on.
    """
    connection = await open_socket(addresses, host, port, timeout)
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
            f"The server did not greet within {PATIENCE:g} seconds: {host}:{port} expects TLS from the start;"
            f" set {switch} to true",
            before_request=True,
        )
    return await open_socket(addresses, host, port, timeout)


def plain_text_behind(failure: BaseException | None) -> bool:
    """Whether a failure of TLS means that the server answered in plain text."""
    while failure is not None:
        words = str(failure).upper().replace(" ", "_")
        if isinstance(failure, ssl.SSLError) and any(each in words for each in _NO_TLS):
            return True
        failure = failure.__cause__ or failure.__context__
    return False


def expects_plain_text(where: str, switch: str, tls_port: int) -> str:
    """What to tell of such a server."""
    if where.endswith(f":{tls_port}"):
        return f"{where} answered in plain text, but port {tls_port} stands for TLS from the start; give another port"
    return f"{where} answered in plain text, not in TLS: set {switch} to false, or give the port for TLS ({tls_port})"


async def _greets(connection: socket.socket) -> bool:
    """Whether the server says something, or hangs up, in time. Nothing is read."""
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_reader(connection, heard.set)
    try:
        async with asyncio.timeout(PATIENCE):
            await heard.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(connection)
    return True


async def _speaks_tls(addresses: Addresses, host: str, port: int) -> bool:
    """Whether a handshake on a connection of its own gets an answer in TLS. Nothing is sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # it is only asked whether there is TLS
    try:
        async with asyncio.timeout(HANDSHAKE):
            connection = await open_socket(addresses, host, port, HANDSHAKE)
            with contextlib.closing(connection):
                _, writer = await asyncio.open_connection(sock=connection, ssl=context, server_hostname=host)
                writer.transport.abort()
    except ssl.SSLError as error:
        return "ALERT" in str(error).upper()  # it refuses our handshake, but in TLS
    except (OSError, HttpFailed):  # TimeoutError is an OSError
        return False
    return True
