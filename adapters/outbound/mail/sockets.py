"""Connections to mail servers that a user named: only to addresses that the outbound policy allows."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from enum import Enum
from functools import cache

from ports.http import Addresses, HttpFailed

TlsContexts = Callable[[], ssl.SSLContext]
"""Gives the TLS settings of a connection."""


@cache
def checked_tls() -> ssl.SSLContext:
    """Checks the server's certificate and name against the system's authorities, or SSL_CERT_FILE's."""
    return ssl.create_default_context()


class Security(Enum):
    """How a connection is protected."""

    IMPLICIT = "TLS from the first byte"
    STARTTLS = "STARTTLS, required"
    OPPORTUNISTIC = "STARTTLS when the server offers it"


async def open_socket(addresses: Addresses, host: str, port: int, timeout: float) -> socket.socket:
    """A connected TCP socket (non-blocking) to the first reachable allowed address of `host`.

    Raises `HttpFailed` (also `AddressRefused`), its `before_request` set.
    """
    loop = asyncio.get_running_loop()
    failure: OSError | None = None
    for address in await addresses.resolve_allowed(host, port):
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await loop.sock_connect(connection, (address.host, address.port))
        except OSError as error:  # TimeoutError is one of them
            connection.close()
            failure = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    reason = (failure and failure.strerror) or "no answer in time"
    raise HttpFailed(f"{host}:{port} cannot be reached: {reason}", before_request=True) from failure
