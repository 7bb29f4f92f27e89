"""Addresses that are put together from parts which come from outside: ids of events, values of configurations."""

from urllib.parse import quote, urlsplit


def segment(value: object, safe: str = "") -> str:
    """A value as one segment of a path, whatever it holds; never empty, which would name the collection above.

    The segments `.` and `..` cannot be quoted: the client refuses every address that has them (`checked_url`).
    """
    return quote(str(value), safe=safe, errors="replace") or "-"


def base_address(text: str) -> str:
    """An address to put paths behind: without a query or fragment, which would swallow them, and a final slash."""
    return urlsplit(text)._replace(query="", fragment="").geturl().rstrip("/")
