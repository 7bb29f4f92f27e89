"""Reads a multipart body as it comes in: file parts become streams, and nothing is kept in memory or on disk.

Sources: RFC 7578 (multipart/form-data), RFC 6266 and RFC 8187 (file names).
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from domain.refusals import Invalid, TooLarge
from ports.knowledge import IncomingFile

MAX_BOUNDARY = 256
"""Characters. RFC 2046 (5.1.1) allows 70; the parser takes so many."""
MAX_HEADER_BYTES = 64 * 1024
"""Of one part: as much as the head of a request may have."""
MAX_PARTS = 1000
"""Parts of one upload, the plain fields included."""
MAX_FIELD_BYTES = 1024 * 1024
"""Plain fields, and what stands before the first and after the last boundary, are read over; they may be so long
together."""
BROKEN = "the upload is not a well-formed multipart body"
NO_BOUNDARY = "Content-Type: multipart/form-data needs a boundary, as in multipart/form-data; boundary=x"


@dataclass(slots=True)
class _FormPart:
    """A part's headers as they come in; `is_file` once they are complete."""

    headers: dict[str, bytes] = field(default_factory=dict)
    name: bytes = b""
    value: bytes = b""
    size: int = 0


_Event = tuple[str, bytes]
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?$)', re.DOTALL)
"""A quoted string. One that never ends reaches to the end of the header, so that the search stays linear."""
_EXTENDED = re.compile(rb";\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^\s;]+)", re.IGNORECASE)


class MultipartReader:
    """One upload. `body` gives the raw pieces of the request."""

    def __init__(self, content_type: str, body: AsyncIterator[bytes]) -> None:
        """Raises `Invalid` for a multipart body whose boundary is missing or too long."""
        self._body = body
        self._parts: _PartParser | None = None
        kind, options = parse_options_header(content_type[:MAX_HEADER_BYTES])
        if kind == b"multipart/form-data":
            boundary = options.get(b"boundary", b"")
            if not boundary:
                raise Invalid(NO_BOUNDARY)
            if len(boundary) > MAX_BOUNDARY:
                raise Invalid(f"Content-Type: the boundary may have {MAX_BOUNDARY} characters at most")
            self._parts = _PartParser(boundary)

    async def first_field(self, name: str) -> str:
        """The value of a plain field of that name, where it stands before all files; else empty."""
        event = await self._next(self._parts) if self._parts else None
        if event is None or self._parts is None:
            return ""
        if event[0] != "field":
            self._parts.events.appendleft(event)
            return ""
        field_name, _, value = event[1].partition(b"\0")
        return value.decode("latin-1") if field_name == name.encode() else ""

    async def files(self) -> AsyncIterator[IncomingFile]:
        """The file parts, whatever their fields are called; each one's content must be read before the next."""
        if self._parts is None:
            return
        while event := await self._next(self._parts):
            kind, name = event
            if kind == "file":
                yield IncomingFile(decoded_name(name), self._content(self._parts))

    async def _content(self, parts: _PartParser) -> AsyncIterator[bytes]:
        while event := await self._next(parts):
            kind, data = event
            if kind == "end":
                return
            yield data
        raise Invalid(BROKEN)

    async def _next(self, parts: _PartParser) -> _Event | None:
        """The next event; None at the body's end."""
        while not parts.events:
            if parts.ended:
                return None
            try:
                parts.feed(await anext(self._body, None))
            except ClientDisconnect as error:
                raise Invalid("the upload broke off") from error
        return parts.events.popleft()


class _PartParser:
    """Turns pieces of a body into events: a file's name, its data, its end. Raises `Invalid`, `TooLarge`. The parser
    calls its methods `on_...`."""

    def __init__(self, boundary: bytes) -> None:
        self.events: deque[_Event] = deque()
        self.ended = False
        self._part = _FormPart()
        self._is_file = False
        self._first_field: bytes | None = None
        self._count = 0
        self._skipped = 0
        self._closed = False
        callbacks: Any = {name: getattr(self, name) for name in dir(self) if name.startswith("on_")}
        self._parser = MultipartParser(
            boundary,
            callbacks,
            max_header_count=MAX_HEADER_BYTES,  # `_grow` refuses what is too long, in words
            max_header_size=sys.maxsize,
        )

    def feed(self, piece: bytes | None) -> None:
        """None at the body's end."""
        try:
            if piece is None:
                self.ended = True
                self._parser.finalize()
            elif piece:
                if self._closed or not self._count:
                    self._skip(len(piece))
                self._parser.write(piece)
        except FormParserError as error:
            raise Invalid(BROKEN) from error

    def on_part_begin(self) -> None:
        self._part, self._is_file = _FormPart(), False
        self._count += 1
        if self._count > MAX_PARTS:
            raise TooLarge(f"the upload has over {MAX_PARTS} parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._part.name += data[start:end]
        self._grow(end - start)

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._part.value += data[start:end]
        self._grow(end - start)

    def _grow(self, size: int) -> None:
        self._part.size += size
        if self._part.size > MAX_HEADER_BYTES:
            raise Invalid(
                f"the headers of a part of the upload are over {MAX_HEADER_BYTES // 1024} KB; shorten the file name"
            )

    def on_header_end(self) -> None:
        self._part.headers[self._part.name.decode("latin-1").lower()] = self._part.value
        self._part.name = self._part.value = b""
        self._grow(len(b":\r\n"))

    def on_headers_finished(self) -> None:
        disposition = self._part.headers.get("content-disposition", b"")
        _, options = parse_options_header(disposition)
        name = extended_name(disposition) or options.get(b"filename")
        self._is_file = bool(name)
        if name:
            self.events.append(("file", name))
        elif self._count == 1:
            self._first_field = options.get(b"name", b"") + b"\0"

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.events.append(("data", data[start:end]))
            return
        self._skip(end - start)
        if self._first_field is not None:
            self._first_field += data[start:end]

    def _skip(self, size: int) -> None:
        self._skipped += size
        if self._skipped > MAX_FIELD_BYTES:
            raise TooLarge("the upload has over 1 MB besides its files")

    def on_part_end(self) -> None:
        if self._is_file:
            self.events.append(("end", b""))
        elif self._first_field is not None:
            self.events.append(("field", self._first_field))
            self._first_field = None

    def on_end(self) -> None:
        self._closed = True


def extended_name(disposition: bytes) -> bytes | None:
    """A name sent as filename*, in UTF-8; None without one, or where it makes no sense.

    RFC 7578 (4.2) does not want it here, yet several clients send it for names outside ASCII: alone, or beside a
    `filename` that nobody can read. RFC 6266 (4.3) says that it goes before `filename`; RFC 8187 is its form.
    """
    match = _EXTENDED.search(_QUOTED.sub(b'""', disposition))
    if match is None:
        return None
    try:
        return unquote_to_bytes(match[2]).decode(match[1].decode()).encode()
    except UnicodeError:
        return None


def decoded_name(raw: bytes) -> str:
    """A name as it came over the wire.

    Browsers write a quotation mark and line ends as %22, %0D and %0A and nothing else so.
    Source: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("%22", '"').replace("%0D", " ").replace("%0A", " ")
