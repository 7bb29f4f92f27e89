"""Where the address policy meets the network: a name is resolved once, and only what passed is called."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

from adapters.outbound.http.policy import AddressPolicy, numeric_host
from ports.http import Address, AddressRefused, HttpFailed

AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class Forbidden(PermissionError):
    """An address that the policy forbids. An OSError, so that the client library moves on to the next
    address of a host, or reports it as a failed connection."""


def refused(host: str) -> AddressRefused:
    """The refusal, in words for the user who gave `host`; says nothing of what the name resolved to."""
    return AddressRefused(
        f"the outbound address policy forbids {host}: it is not a public address"
        " (the operator may allow its network with OUTBOUND_ALLOW, but no link-local or metadata address)"
    )


class PolicedSockets:
    """A socket factory: the last gate, asked with the very address that is about to be connected to."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    def __call__(self, info: AddrInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self._policy.allows(str(address[0])):
            raise Forbidden("the address is not allowed")
        return socket.socket(family, kind, protocol)


class AllowedAddresses:
    """`ports.http.Addresses` over the system's resolver."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    async def resolve_allowed(self, host: str, port: int) -> Sequence[Address]:
        name = host.strip().removeprefix("[").removesuffix("]")
        literal = numeric_host(name)
        if literal is not None:
            name = str(literal)
        addresses = await _lookup(name, port)
        allowed = [address for address in addresses if self._policy.allows(address.host)]
        if not allowed:
            raise refused(host)
        return allowed


async def _lookup(name: str, port: int) -> list[Address]:
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HttpFailed(f"the host name {name!r} cannot be resolved", before_request=True) from error
    unique = dict.fromkeys((str(info[4][0]), int(info[4][1])) for info in infos)
    return [Address(ip, number) for ip, number in unique]
