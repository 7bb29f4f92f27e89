"""What a request must look like before it may go out. Pure."""

import re
from collections.abc import Mapping
from functools import lru_cache

from yarl import URL

from adapters.outbound.http.redaction import safe_url
from ports.http import HttpFailed, NoAddress

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_GAPS = re.compile(r"[\s\x00-\x1f]")
_READY = re.compile(r"[!-~]+")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?=[/?#]|$)", re.IGNORECASE)
LONGEST = 32 * 1024
"""Characters of an address. Servers take 8 to 64 KB."""
_OURS = frozenset({"content-length", "transfer-encoding", "connection", "host"})
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})


def checked_url(text: str) -> URL:
    """The address, its escapes untouched (signatures may cover them); raises `NoAddress`."""
    if len(text) > LONGEST:
        raise NoAddress(f"an address of {len(text)} characters is too long to be called")
    if _DOTS.search(text.partition("?")[0].partition("#")[0]):
        raise NoAddress(f"{safe_url(text)} is not an address: it has the segment '.' or '..'")
    ready = _READY.fullmatch(text) is not None
    if not ready and _GAPS.search(text):
        raise NoAddress(f"{safe_url(text)} is not an address: it has white space")
    try:
        url = URL(text, encoded=ready)
        usable = url.scheme in ("http", "https") and bool(url.host) and url.port is not None
    except ValueError:
        usable = False
    if not usable:
        raise NoAddress(f"{safe_url(text)} is not an http or https address")
    return url


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers to send, without those that the client sets itself; raises `HttpFailed`."""
    checked = {}
    for name, value in headers.items():
        if not _is_name(name):
            raise HttpFailed(f"{name!r} is not the name of an HTTP header", before_request=True)
        if not (value.isprintable() or _VALUE.fullmatch(value)):
            raise HttpFailed(f"the header {name} has a control character in its value", before_request=True)
        if name.lower() not in _OURS:
            checked[name] = value
    return checked


@lru_cache(1024)
def _is_name(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def for_hop(headers: dict[str, str], origin: URL, target: URL) -> dict[str, str]:
    """The headers for the next hop of a redirect: credentials stay with the origin they were meant for."""
    if origin.origin() == target.origin():
        return headers
    return {name: value for name, value in headers.items() if name.lower() not in _SECRETS}
