"""Parts of a file on request, and names in headers.

Sources: RFC 9110 section 14 (range requests), RFC 6266 and RFC 8187 (Content-Disposition).
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

_RANGE = re.compile(r"bytes=[ \t]*(\d{0,19})-(\d{0,19})", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` on, `length` of them."""

    start: int
    length: int


class Unsatisfiable(Exception):
    """The range lies outside the file."""


def asked_range(header: str | None, size: int) -> Span | None:
    """The one range asked for; None for the whole file (no range, several, or one that makes no sense)."""
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        if length == 0:
            raise Unsatisfiable
        return Span(size - length, length)
    start = int(first)
    end = min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return Span(start, end - start + 1)


def is_known(header: str | None, etag: str) -> bool:
    """Return True if an If-None-Match header names this version (RFC 9110, 13.1.2)."""
    known = [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]
    return etag in known or known == ["*"]


def attachment(name: str) -> str:
    """A Content-Disposition header for a download of that name, in any script."""
    name = name.encode("utf-8", "replace").decode()
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    header = f'attachment; filename="{plain}"'
    return header if plain == name else f"{header}; filename*=UTF-8''{quote(name, safe='')}"
