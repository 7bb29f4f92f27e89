"""Reads a raw mail (RFC 5322, RFC 2045 to 2049) into headers, text and files, and tolerates every malformation."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.policy import Compat32, compat32
from typing import TypeVar

from adapters.outbound.mail.charsets import charset_of_html, decode_bytes
from adapters.outbound.mail.headers import Headers, decode, storable
from adapters.outbound.mail.html_text import html_to_text
from adapters.outbound.mail.quotes import own_text, quoted_in
from adapters.outbound.mail.subjects import is_forwarded
from domain.channels.messages import Quoted

T = TypeVar("T")

MAX_TEXT = 200_000
"""Characters of text that are handed on."""
MAX_PARTS = 1000


class _Utf8Headers(Compat32):
    """Reads raw UTF-8 in headers, which many programs write into the names of files (RFC 6532)."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return storable(value)


_POLICY = _Utf8Headers()


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file in a mail; `index` counts the files of the mail in their order."""

    index: int
    name: str
    mime_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as read: `text` is what the sender wrote, without the quoted conversation, which is `quoted`."""

    headers: Headers
    text: str
    files: tuple[MailFile, ...]
    fingerprint: str
    quoted: Quoted | None = None

    @property
    def key(self) -> str:
        """The identity of the mail, the same wherever and however often it is found."""
        ids = self.headers.message_ids("Message-ID")
        return f"{ids[0]}#{self.fingerprint[:12]}" if ids else self.fingerprint


def read_mail(raw: bytes) -> Mail:
    """Reads a mail. Never raises for content: what cannot be decoded is replaced or left out."""
    message = message_from_bytes(raw, policy=_POLICY)
    headers = Headers((name, str(value)) for name, value in message.raw_items())
    texts: list[str] = []
    files: list[MailFile] = []
    quoted: Quoted | None = None
    forwarded = is_forwarded(headers.text("Subject"))
    for part in _leaves(message):
        if _is_file(part):
            files.append(_file(part, len(files)))
        else:
            texts.append(_text(part, forwarded=forwarded))
            quoted = quoted or (_quoted(part) if is_answer(headers) else None)
    text = "\n\n".join(filter(None, texts))
    return Mail(headers, text[:MAX_TEXT], tuple(files), _fingerprint(headers, raw), quoted)


def is_answer(headers: Headers) -> bool:
    """Whether the mail answers another one, and is not forwarded."""
    return bool(headers.message_ids("In-Reply-To") or headers.message_ids("References")) and not is_forwarded(
        headers.text("Subject")
    )


def quoted_text(text: str, *, is_html: bool) -> Quoted | None:
    """The mail that was answered, where the text of a part quotes it."""
    text = text.replace("\0", "")[: 2 * MAX_TEXT]
    return quoted_in(html_to_text(text, drop_quotes=False) if is_html else text)


def readable_text(text: str, *, is_html: bool, forwarded: bool) -> str:
    """What the sender wrote, of the text of a part: HTML as text, without the quoted conversation."""
    text = text.replace("\0", "")[: 2 * MAX_TEXT]
    if is_html:
        text = html_to_text(text, drop_quotes=not forwarded)
    return own_text(text, forwarded=forwarded)


def clean_filename(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_")[:200]


def _fingerprint(headers: Headers, raw: bytes) -> str:
    """Tells different mails with the same Message-ID apart, and identifies those that have none."""
    if not headers.message_ids("Message-ID"):
        return hashlib.sha256(raw).hexdigest()
    values = (" ".join((headers.raw(name) or "").split()) for name in ("From", "Date", "Subject"))
    return hashlib.sha256("\0".join(values).encode(errors="replace")).hexdigest()


def _leaves(message: Message) -> Iterator[Message]:
    """The parts to read, in order: of alternatives the best one, of containers their children."""
    pending = [message]
    for _ in range(MAX_PARTS):
        if not pending:
            return
        part = pending.pop()
        if part.get_content_type() == "message/rfc822" or not part.is_multipart():
            yield part
        else:
            pending.extend(reversed(_children(part)))


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    children = [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []
    return _best_alternative(children) if part.get_content_type() == "multipart/alternative" else children


def _best_alternative(children: list[Message]) -> list[Message]:
    """Plain text unless it is empty, else HTML, else the last; and calendars or other files besides."""
    plain = [child for child in children if child.get_content_type() == "text/plain"]
    if any(_text(child) for child in plain):
        chosen = plain
    else:
        html = [child for child in children if _contains(child, "text/html")]
        chosen = html[-1:] or children[-1:]
    others = [child for child in children if child not in chosen and not _is_alternative_text(child)]
    return chosen + [file for child in others for file in _inner_files(child)]


def _contains(part: Message, content_type: str) -> bool:
    return any(inner.get_content_type() == content_type for inner in part.walk())


def _is_alternative_text(part: Message) -> bool:
    return part.get_content_type() in {"text/plain", "text/html", "text/enriched", "text/watch-html"}


def _inner_files(part: Message) -> list[Message]:
    """The files inside an alternative that was not chosen, such as pictures beside its HTML."""
    return [inner for inner in part.walk() if not inner.is_multipart() and _is_file(inner)]


def _is_file(part: Message) -> bool:
    if part.get_content_maintype() == "multipart":  # without a boundary: its content is text
        return False
    if part.get_content_type() == "message/rfc822" or part.get_content_disposition() == "attachment":
        return True
    return part.get_content_type() not in {"text/plain", "text/html"} or _filename(part) != ""


def _file(part: Message, index: int) -> MailFile:
    mime_type = part.get_content_type()
    is_mail = mime_type == "message/rfc822"
    name = _filename(part) or ("message.eml" if is_mail else f"file-{index + 1}")
    return MailFile(index, name, mime_type, _enclosed(part) if is_mail else _content(part))


def _filename(part: Message) -> str:
    name = _tolerant(part.get_filename)
    return clean_filename(decode(str(name))) if name else ""


def _enclosed(part: Message) -> bytes:
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    if isinstance(inner, Message):
        enclosed = _tolerant(lambda: inner.as_bytes(policy=compat32))
        return _content(part) if enclosed is None else enclosed
    return _content(part)


def _content(part: Message) -> bytes:
    payload = _tolerant(lambda: part.get_payload(decode=True))
    return payload if isinstance(payload, bytes) else b""


def _text(part: Message, *, forwarded: bool = False) -> str:
    if part.is_multipart():
        return ""
    text, is_html = _decoded(part)
    return readable_text(text, is_html=is_html, forwarded=forwarded)


def _quoted(part: Message) -> Quoted | None:
    if part.is_multipart():
        return None
    text, is_html = _decoded(part)
    return quoted_text(text, is_html=is_html)


def _decoded(part: Message) -> tuple[str, bool]:
    """The text of a part, and whether it is HTML."""
    content, is_html = _content(part), part.get_content_subtype() == "html"
    charset = _tolerant(part.get_content_charset) or (charset_of_html(content) if is_html else "")
    text = decode_bytes(content, charset)
    if not is_html and str(part.get_param("format") or "").lower() == "flowed":
        text = _unflowed(text, joined_with_space=str(part.get_param("delsp") or "").lower() != "yes")
    return text, is_html


def _tolerant(read: Callable[[], T]) -> T | None:
    """The result of the library; None where it fails on malformed content."""
    try:
        return read()
    except (LookupError, ValueError, TypeError, AttributeError, AssertionError):
        return None


def _unflowed(text: str, *, joined_with_space: bool) -> str:
    """Joins softly broken lines (RFC 3676, 4)."""
    lines: list[str] = []
    soft = False
    for line in text.replace("\r\n", "\n").split("\n"):
        content = line.removeprefix(" ")
        quoted = content.startswith(">")
        if soft and not quoted and lines:
            lines[-1] += content
        else:
            lines.append(content)
        soft = content.endswith(" ") and content != "-- " and not quoted
        if soft and not joined_with_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)
