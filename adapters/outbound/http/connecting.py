"""Opens connections to servers: names are resolved, the address policy is kept, TLS is begun."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from ipaddress import ip_address
from typing import NamedTuple

import aiohappyeyeballs

from adapters.outbound.http.addresses import AddrInfo, NameNotFound, PolicedSockets, resolved
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.http.wire import Connection

NAME_SECONDS = 30.0
"""How long the addresses of a name are remembered."""
MOST_NAMES = 1000
NEXT_ADDRESS_SECONDS = 0.25
"""After which the next address of a name is tried beside the first (RFC 8305)."""


class Origin(NamedTuple):
    """A server. `host` is as it stands in an address, without brackets."""

    host: str
    port: int
    tls: bool


class Connector:
    """With a `policy` each connection has passed it: the name when it is resolved, and the very address that is
    connected to."""

    def __init__(
        self, policy: AddressPolicy | None, tls: Callable[[], ssl.SSLContext], connect_timeout: float
    ) -> None:
        self._policy = policy
        self._sockets = PolicedSockets(policy) if policy else None
        self._tls = tls
        self._connect_timeout = connect_timeout
        self._names: dict[tuple[str, int], tuple[float, asyncio.Task[list[AddrInfo]]]] = {}

    async def connect(self, origin: Origin) -> Connection:
        loop = asyncio.get_running_loop()
        addresses = await self._addresses(origin)
        async with asyncio.timeout(self._connect_timeout):
            connected = await aiohappyeyeballs.start_connection(
                addresses,
                happy_eyeballs_delay=NEXT_ADDRESS_SECONDS,
                interleave=1,
                socket_factory=self._sockets,
            )
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, connection = await loop.create_connection(
                Connection,
                sock=connected,
                ssl=self._tls() if origin.tls else None,
                server_hostname=origin.host.rstrip(".") if origin.tls else None,
            )
        return connection

    async def _addresses(self, origin: Origin) -> list[AddrInfo]:
        if is_literal(origin.host):
            family = socket.AF_INET6 if ":" in origin.host else socket.AF_INET
            return [(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (origin.host, origin.port))]
        return await self._resolve(origin.host, origin.port)

    async def _resolve(self, host: str, port: int) -> list[AddrInfo]:
        """One look-up for all that ask at the same time."""
        now = asyncio.get_running_loop().time()
        until, task = self._names.get((host, port), (0.0, None))
        if task is None or until <= now:
            if len(self._names) >= MOST_NAMES:
                self._names.clear()
            task = asyncio.create_task(resolved(host, port, self._policy))
            self._names[host, port] = now + NAME_SECONDS, task
        try:
            return await asyncio.shield(task)
        except PermissionError:
            self._names.pop((host, port), None)
            raise
        except OSError as error:
            self._names.pop((host, port), None)
            raise NameNotFound(str(error)) from error


def is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
