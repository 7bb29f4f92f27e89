"""URLs and headers of outbound requests: building them from parts that come from outside, checking them, and
redacting them for logs, metrics and error texts. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from domain.addresses import address_fault
from ports.http import HttpFailed, NoAddress

if TYPE_CHECKING:
    from yarl import URL

_BOT_TOKEN = re.compile(r"/bot\d+(:|%3[aA])[^/?#]*")
_LONG = re.compile(r"(?<=/)[A-Za-z0-9_\-.%~=]{20,}(?=/|$)")


def safe_url(url: str) -> str:
    """The address without what may be secret: user and password, the values of the query, the fragment, bot
    tokens in the path (`/bot<id>:<secret>/`), and path segments long enough to be a key."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "(an address that cannot be read)"
    if ":" in host:
        host = f"[{host}]"
    path = _LONG.sub("***", _BOT_TOKEN.sub("/bot***", parts.path))
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    query = "?" + "&".join(f"{name}=***" for name in names) if names else ""
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}{query}"


_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
LONGEST_SHOWN = 200
_READY = re.compile(r"[!-~]+")
_OURS = frozenset({"content-length", "transfer-encoding", "connection", "host"})
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})


@lru_cache(1024)
def checked_url(text: str) -> URL:
    """The address, its escapes untouched (signatures may cover them); raises `NoAddress`."""
    from yarl import URL  # a gateway alone, which calls nobody, has no aiohttp

    if fault := address_fault(text):
        raise NoAddress(f"{safe_url(text)[:LONGEST_SHOWN]} cannot be called: it {fault}")
    try:
        url = URL(text, encoded=_READY.fullmatch(text) is not None)
        usable = bool(url.host) and url.port is not None
    except ValueError:
        usable = False
    if not usable:
        raise NoAddress(
            f"{safe_url(text)[:LONGEST_SHOWN]} cannot be called: it must be an address with the name of a host"
        )
    return url


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers to send, without those that the client sets itself; raises `HttpFailed`."""
    checked = {}
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise HttpFailed(f"{name!r} is not the name of an HTTP header", before_request=True)
        if not (value.isprintable() or _VALUE.fullmatch(value)):
            raise HttpFailed(f"the header {name} has a control character in its value", before_request=True)
        if name.lower() not in _OURS:
            checked[name] = value
    return checked


def for_hop(headers: dict[str, str], origin: URL, target: URL) -> dict[str, str]:
    """The headers for the next hop of a redirect: credentials stay with the origin they were meant for."""
    if origin.origin() == target.origin():
        return headers
    return {name: value for name, value in headers.items() if name.lower() not in _SECRETS}


def segment(value: object, safe: str = "") -> str:
    """A value as one segment of a path, whatever it holds; never empty, which would name the collection above.

    The segments `.` and `..` cannot be quoted: the client refuses every address that has them (`checked_url`).
    """
    return quote(str(value), safe=safe, errors="replace") or "-"


def base_address(text: str) -> str:
    """An address to put paths behind: without a query or fragment, which would swallow them, and a final slash."""
    return urlsplit(text)._replace(query="", fragment="").geturl().rstrip("/")
