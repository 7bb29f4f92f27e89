"""Which texts are addresses of the web that can be called. Pure.

The rule for those that users give and for those that are called: what is stored is called one day.
"""

import re
from ipaddress import ip_address
from unicodedata import category, normalize
from urllib.parse import urlsplit

LONGEST = 32 * 1024
"""Characters of an address. Servers take 8 to 64 KB."""
LONGEST_HOST = 253
LONGEST_LABEL = 63
"""RFC 1035, 2.3.4."""

_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_GAPS = re.compile(r"[\s\x00-\x1f]")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?=[/?#]|$)", re.IGNORECASE)
_FULL_STOPS = re.compile("[.\u3002\uff0e\uff61]")
"""Between the labels of a host (RFC 3490, 3.1)."""


def address_fault(value: str) -> str | None:
    """Returns the fault of a web address, or None."""
    if len(value) > LONGEST:
        return f"must have at most {LONGEST} characters"
    if _GAPS.search(value):
        return "must be an address that begins with http:// or https://, without white space"
    if _DOTS.search(value.partition("?")[0].partition("#")[0]):
        return "must be an address without the segments . and .."
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        return "must be an address that begins with http:// or https://"
    return None if _is_host(parts.hostname or "") else "must be an address with the name of a host"


def is_private(address: str) -> bool:
    """Return True for a web address that nobody outside of the own network can read: its host is a private IP
    address, or has a name that only that network knows."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    try:
        return bool(host) and not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_NAMES)


def _is_host(host: str) -> bool:
    try:
        if ":" in host:
            return len(host) <= LONGEST_LABEL and bool(ip_address(host))
        labels = [_ascii(label) for label in _FULL_STOPS.split(host)]
    except ValueError:
        return False
    labels = labels[:-1] if len(labels) > 1 and not labels[-1] else labels
    short = all(0 < len(label) <= LONGEST_LABEL for label in labels)
    return short and len(".".join(labels)) <= LONGEST_HOST and "\\" not in host


def _ascii(label: str) -> str:
    """The label as the domain name system has it (RFC 5891, 4). Raises `UnicodeError`."""
    if not label.isascii():
        return label.encode("idna").decode()
    if label.startswith("xn--"):
        name = label[4:].encode().decode("punycode")
        if name.isascii() or normalize("NFKC", name) != name or category(name[0]) == "Cc":
            raise UnicodeError(label)
    return label
