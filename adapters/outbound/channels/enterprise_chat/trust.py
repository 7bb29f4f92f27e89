"""Which service URLs may receive the bot's bearer token.

A service URL comes with the activity, and the token sent there speaks for the bot. So only the Bot Framework's own
hosts are trusted, and those that the operator named.
"""

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

_MICROSOFT = (
    "smba.trafficmanager.net",
    "smba.infra.gcc.teams.microsoft.com",
    "smba.infra.gov.teams.microsoft.us",
    "smba.infra.dod.teams.microsoft.us",
    ".botframework.com",
    ".botframework.us",
    ".botframework.azure.us",
    ".botframework.azure.cn",
)
_PUBLIC = frozenset({"login.microsoftonline.com", "login.microsoftonline.us", "login.botframework.com"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NAME = r"[A-Za-z0-9_-]+"
_ENTRY = re.compile(
    rf"(?:{_NAME}(?:\.{_NAME})*|\*?\.{_NAME}(?:\.{_NAME})+|\[[0-9A-Fa-f:.]+\])(?::\d{{1,5}})?"
)


def is_host_entry(entry: str) -> bool:
    """Whether an entry of the operator's list can be understood.

    `name` (also an IPv4 address), `[IPv6 address]`, `.domain` or `*.domain`; each may end in `:port`.
    """
    try:
        return bool(_ENTRY.fullmatch(entry) and urlsplit(f"//{entry}").port != 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether an http or https address names this very machine: localhost, 127.0.0.1 or ::1."""
    parts = _parts(url)
    return parts is not None and parts.hostname in _LOOPBACK


def is_trusted(
    service_url: str, operator_addresses: tuple[str, ...], operator_hosts: tuple[str, ...] = ()
) -> bool:
    """Whether a token may go there.

    `operator_addresses` are the settings of the login and metadata servers: where they name a host of the
    operator's own (a local Bot Framework, a proxy), that host is trusted as well, under the same scheme.
    `operator_hosts` are trusted over https, on port 443 where they name none; see `is_host_entry`.
    """
    service = _parts(service_url)
    if service is None:
        return False
    if service.scheme == "https":
        host, port = service.hostname or "", service.port or 443
        if any(_names(entry, host, port) for entry in (*_MICROSOFT, *operator_hosts)):
            return True
    addresses = (_parts(address) for address in operator_addresses)
    return any(address is not None and _same_host(service, address) for address in addresses)


def _names(entry: str, host: str, port: int) -> bool:
    if not is_host_entry(entry):
        return False
    named = urlsplit(f"//{entry}")
    name = (named.hostname or "").removeprefix("*")
    if port != (named.port or 443):
        return False
    return host.endswith(name) if name.startswith(".") else _canonical(host) == _canonical(name)


def _canonical(host: str) -> str:
    """An address in its shortest spelling, a name as it stands."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host


def _same_host(service: SplitResult, setting: SplitResult) -> bool:
    theirs, ours = service.hostname or "", setting.hostname or ""
    if ours in _PUBLIC or service.scheme != setting.scheme:
        return False
    return theirs == ours or (theirs in _LOOPBACK and ours in _LOOPBACK)


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.username is None and "\\" not in url else None
