"""The address policy: which addresses may be called when a user gave them, and its checks at name resolution and
connection.

The special-purpose ranges are those of the IANA registries (RFC 6890). They are listed here because
`ipaddress.is_global` differs between Python versions.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Literal, cast

from ports.http import Address, AddressRefused, HttpFailed

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Mode = Literal["open", "public-only"]

_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_V4_COMPATIBLE = IPv6Network("::/96")
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


_METADATA = _networks(
    "169.254.0.0/16",  # link-local (RFC 3927); cloud metadata at 169.254.169.254
    "fe80::/10",  # link-local (RFC 4291)
    "fd00:ec2::/32",  # AWS metadata over IPv6
    "fd20:ce::254/128",  # Google Cloud metadata over IPv6
    "100.100.100.200/32",  # Alibaba Cloud metadata
    "168.63.129.16/32",  # Azure's platform address
)

_NOT_PUBLIC = _networks(
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared address space of carriers (RFC 6598)
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and the limited broadcast address
    "2001::/23",  # protocol assignments, Teredo among them
    "2001:db8::/32",
    "3fff::/20",
)


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What a user's address may resolve to.

    `open`: everything but link-local and metadata addresses. `public-only`: public unicast addresses and
    what `allow` lists. Link-local and metadata addresses cannot be allowed.
    """

    mode: Mode = "open"
    allow: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, mode: str, allow: Iterable[str] = ()) -> AddressPolicy:
        """From the settings OUTBOUND_POLICY and OUTBOUND_ALLOW; raises `ValueError` with what to mend."""
        if mode not in ("open", "public-only"):
            raise ValueError(f"OUTBOUND_POLICY must be 'open' or 'public-only', not {mode!r}")
        networks = []
        for text in filter(None, (item.strip() for item in allow)):
            try:
                networks.append(ip_network(text))
            except ValueError as error:
                raise ValueError(
                    f"OUTBOUND_ALLOW must list networks such as 10.1.0.0/16, comma-separated: {error}"
                ) from None
        return cls(cast(Mode, mode), tuple(networks))

    def allows(self, address: str | Ip) -> bool:
        """Return True if the address may be called; False for text that is no IP address."""
        try:
            ip = ip_address(address)
        except ValueError:
            return False
        for destination in _destinations(ip):
            if _within(destination, _METADATA):
                return False
            is_unicast = destination.version == 4 or destination in _GLOBAL_UNICAST
            is_public = is_unicast and not _within(destination, _NOT_PUBLIC)
            if self.mode != "open" and not (is_public or _within(destination, self.allow)):
                return False
        return True


def numeric_host(host: str) -> IPv4Address | None:
    """The address behind a numeric host in any notation that C libraries take: `0x7f.1`, `2130706433`,
    `0177.0.0.1` (inet_aton); None for a name."""
    plain = host.removesuffix(".")
    if not plain.isascii() or not plain.replace(".", "").isalnum():
        return None
    try:
        return IPv4Address(socket.inet_aton(plain))
    except OSError:
        return None


def _destinations(ip: Ip) -> tuple[Ip, ...]:
    """Every address that a packet to `ip` may end at: itself, and IPv4 addresses embedded in it."""
    if isinstance(ip, IPv4Address):
        return (ip,)
    if ip.ipv4_mapped is not None:
        return (ip.ipv4_mapped,)
    if ip in _NAT64:
        return (_low(ip),)
    embedded: list[Ip] = []
    if ip in _V4_COMPATIBLE and int(ip) > 1:
        embedded.append(_low(ip))
    if ip in _LOCAL_NAT64:  # RFC 6052: at /48 the octets 6, 7, 9, 10; a /96 inside it has them last
        octets = ip.packed
        embedded += [IPv4Address(octets[6:8] + octets[9:11]), _low(ip)]
    if ip.sixtofour is not None:
        embedded.append(ip.sixtofour)
    if ip.teredo is not None:
        embedded += ip.teredo
    return (IPv6Address(int(ip)), *embedded)


def _low(ip: IPv6Address) -> IPv4Address:
    return IPv4Address(ip.packed[-4:])


def _within(ip: Ip, networks: Iterable[Network]) -> bool:
    return any(ip.version == network.version and ip in network for network in networks)


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


@dataclass(frozen=True, slots=True)
class PolicedSockets:
    """A socket factory: the last gate, asked with the very address that is about to be connected to."""

    policy: AddressPolicy

    def __call__(self, info: AddrInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self.policy.allows(str(address[0])):
            raise Forbidden("the address is not allowed")
        return socket.socket(family, kind, protocol)


@dataclass(frozen=True, slots=True)
class AllowedAddresses:
    """`ports.http.Addresses` over the system's resolver."""

    policy: AddressPolicy

    async def resolve_allowed(self, host: str, port: int) -> Sequence[Address]:
        name = host.strip().removeprefix("[").removesuffix("]")
        literal = numeric_host(name)
        if literal is not None:
            name = str(literal)
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise HttpFailed(f"the host name {name!r} cannot be resolved", before_request=True) from error
        unique = dict.fromkeys((str(info[4][0]), int(info[4][1])) for info in infos)
        allowed = [Address(ip, number) for ip, number in unique if self.policy.allows(ip)]
        if not allowed:
            raise refused(host)
        return allowed
