"""Reads mail headers that anybody may have written: nothing here raises on hostile input."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses

from adapters.outbound.mail.charsets import decode_bytes
from adapters.outbound.mail.threads import opened_thread

MAX_HEADER = 20_000
"""Characters of a header that are read."""

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,500}>")
_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\\\"]{1,64}@[^\s@<>()\[\],;:\\\"]{1,255}")
_SPACE = re.compile(r"\s+")


def decode(value: str) -> str:
    """A header value as text on one line: RFC 2047 words decoded, without folding and control characters."""
    value = value[:MAX_HEADER]
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError):
        pieces = [(value, None)]
    text = "".join(
        piece if isinstance(piece, str) else decode_bytes(piece, charset or "utf-8")
        for piece, charset in pieces
    )
    return _SPACE.sub(" ", "".join(c if c.isprintable() else " " for c in text)).strip()


def storable(value: str) -> str:
    """Raw UTF-8 bytes, which the parser gives as lone surrogates, as characters; no NUL."""
    try:
        raw = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = value.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace").replace("\0", "")


@dataclass(frozen=True, slots=True)
class Address:
    """A mail address: the display name decoded, the address as written."""

    name: str
    email: str

    @property
    def domain(self) -> str:
        """The domain, lower-case."""
        return self.email.rpartition("@")[2].lower()


class Headers:
    """The header fields of one message, in their order; names are case-insensitive."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields = tuple((name.strip().lower(), storable(str(value))) for name, value in fields)

    def all(self, name: str) -> Sequence[str]:
        """The raw values of a field, the topmost first."""
        return [value for field, value in self._fields if field == name.lower()]

    def raw(self, name: str) -> str | None:
        """The raw value of the topmost field of that name."""
        return next(iter(self.all(name)), None)

    def has_any(self, names: Iterable[str]) -> bool:
        return any(self.raw(name) is not None for name in names)

    def text(self, name: str) -> str:
        """The decoded value, '' without the field."""
        return decode(self.raw(name) or "")

    def addresses(self, name: str) -> tuple[Address, ...]:
        """The valid addresses of a field such as From."""
        value = _SPACE.sub(" ", (self.raw(name) or "")[:MAX_HEADER])
        pairs = getaddresses([value])
        return tuple(
            Address(decode(display), address) for display, address in pairs if _ADDRESS.fullmatch(address)
        )

    def reply_address(self) -> Address | None:
        """Reply-To, else From."""
        return next(iter(self.addresses("Reply-To") or self.addresses("From")), None)

    def message_ids(self, name: str) -> tuple[str, ...]:
        """The ids of Message-ID, In-Reply-To or References, each with its angle brackets."""
        return tuple(_MESSAGE_ID.findall((self.raw(name) or "")[:MAX_HEADER]))

    def summary(self) -> dict[str, object]:
        """The fields that the record of an event shows."""
        return {
            "subject": self.text("Subject"),
            "date": self.text("Date"),
            "to": [address.email for address in self.addresses("To")],
            "cc": [address.email for address in self.addresses("Cc")],
        }


def session_of(headers: Headers, fallback: str) -> str:
    """The mail thread (RFC 5322, 3.6.4): the first of References, else In-Reply-To, else the mail itself."""
    first = _thread_reference(headers) or next(iter(headers.message_ids("Message-ID")), fallback)
    return opened_thread(first) or first


def opened_session_of(headers: Headers, domain: str) -> str | None:
    """The thread that we opened and to which the mail belongs, None for any other; `domain` is that of its id."""
    return opened_thread(_thread_reference(headers), domain)


def _thread_reference(headers: Headers) -> str:
    return next(iter(headers.message_ids("References") or headers.message_ids("In-Reply-To")), "")
