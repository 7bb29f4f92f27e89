"""Where a gateway finds its cores: the list of CORE_TARGET. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

EXAMPLES = (
    "core:50051, or several as core-1:50051,core-2:50051, or dns:///cores:50051, or unix:///run/core.sock"
)
UNIX = re.compile(r"unix:(//)?(?P<path>/\S+)")
DNS = re.compile(r"dns:(///)?")
ADDRESS = re.compile(r"ipv[46]:")


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of the list. `all_addresses`: the name stands for several cores, one behind each of its addresses.
    A socket of this machine has a `path` instead of a host."""

    host: str = ""
    port: int = 0
    all_addresses: bool = False
    path: str = ""

    @property
    def address(self) -> str:
        """As gRPC takes it."""
        return f"unix:{self.path}" if self.path else address_of(self.host, self.port)

    def __str__(self) -> str:
        return f"dns:///{self.address}" if self.all_addresses else self.address


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_targets(text: str) -> tuple[Target, ...]:
    """The entries, separated by commas. Raises `ValueError` for the first that is none, or that repeats another."""
    targets = tuple(_target(entry.strip()) for entry in text.split(",") if entry.strip())
    for position, target in enumerate(targets):
        if target in targets[:position]:
            raise ValueError(f"names {target} twice")
    return targets


def _target(entry: str) -> Target:
    if unix := UNIX.fullmatch(entry):
        return Target(path=unix["path"])
    name = DNS.match(entry)
    scheme = name or ADDRESS.match(entry)
    host, port = _host_and_port(entry[scheme.end() if scheme else 0 :])
    if not host or not port:
        raise ValueError(f"must list host:port, not '{entry}'; write {EXAMPLES}")
    return Target(host, port, all_addresses=name is not None)


def _host_and_port(text: str) -> tuple[str, int]:
    """Empty and 0 where they are missing or wrong."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "", parts.port or 0
    except ValueError:
        return "", 0
    clean = parts.netloc == text and "@" not in text and not re.search(r"\s", text)
    return (host, port) if clean else ("", 0)
