"""A raw mail (RFC 5322, RFC 2045 to 2049) as what the channel needs of it; tolerant of every malformation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.policy import Compat32, compat32

from adapters.outbound.mail.charsets import charset_of_html, decode_bytes
from adapters.outbound.mail.headers import Headers, decode, storable
from adapters.outbound.mail.html_text import html_to_text
from adapters.outbound.mail.quotes import own_words
from adapters.outbound.mail.subjects import is_forwarded

MAX_TEXT = 200_000
"""Characters of text that are handed on."""
MAX_PARTS = 1000


class _Reading(Compat32):
    """Reads raw UTF-8 in headers, which many programs write into the names of files (RFC 6532)."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return storable(value)


_READING = _Reading()


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file in a mail; `index` counts the files of the mail in their order."""

    index: int
    name: str
    mime_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as read: `text` is what the writer wrote, without the quoted conversation."""

    headers: Headers
    text: str
    files: tuple[MailFile, ...]
    fingerprint: str

    @property
    def key(self) -> str:
        """The same for the same mail wherever and however often it is found."""
        ids = self.headers.message_ids("Message-ID")
        return f"{ids[0]}#{self.fingerprint[:12]}" if ids else self.fingerprint


def read_mail(raw: bytes) -> Mail:
    """Reads a mail. Never raises for content: what cannot be decoded is replaced or left out."""
    message = message_from_bytes(raw, policy=_READING)
    headers = Headers((name, str(value)) for name, value in message.raw_items())
    texts: list[str] = []
    files: list[MailFile] = []
    forwarded = is_forwarded(headers.text("Subject"))
    for part in _leaves(message):
        if _is_file(part):
            files.append(_file(part, len(files)))
        else:
            texts.append(_part_text(part, forwarded=forwarded))
    text = "\n\n".join(each for each in texts if each)
    return Mail(headers, text[:MAX_TEXT], tuple(files), _fingerprint(headers, raw))


def _fingerprint(headers: Headers, raw: bytes) -> str:
    """Tells apart different mails that bear the same Message-ID, and finds those that bear none."""
    if not headers.message_ids("Message-ID"):
        return hashlib.sha256(raw).hexdigest()
    marks = [headers.raw(name) or "" for name in ("From", "Date", "Subject")]
    return hashlib.sha256(
        "\0".join(" ".join(mark.split()) for mark in marks).encode(errors="replace")
    ).hexdigest()


def _leaves(message: Message) -> Iterator[Message]:
    """The parts to read, in order: of alternatives the best one, of containers their children."""
    pending: list[Message] = [message]
    for _ in range(MAX_PARTS):
        if not pending:
            return
        part = pending.pop()
        children = _children(part)
        if children is None:
            yield part
        else:
            pending.extend(reversed(children))


def _children(part: Message) -> list[Message] | None:
    if part.get_content_type() == "message/rfc822" or not part.is_multipart():
        return None
    payload = part.get_payload()
    children = [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []
    if part.get_content_type() == "multipart/alternative":
        return _best_alternative(children)
    return children


def _best_alternative(children: list[Message]) -> list[Message]:
    """Plain text when it says anything, else HTML, else the last, and calendar or other files besides."""
    plain = [child for child in children if child.get_content_type() == "text/plain"]
    if any(_part_text(child) for child in plain):
        chosen = plain
    else:
        html = [child for child in children if _holds(child, "text/html")]
        chosen = html[-1:] or children[-1:]
    related = [child for child in children if child not in chosen and not _is_readable(child)]
    return chosen + [file for child in related for file in _inner_files(child)]


def _holds(part: Message, content_type: str) -> bool:
    return any(each.get_content_type() == content_type for each in part.walk())


def _is_readable(part: Message) -> bool:
    return part.get_content_type() in {"text/plain", "text/html", "text/enriched", "text/watch-html"}


def _inner_files(part: Message) -> list[Message]:
    """The files inside an alternative that was not chosen, such as pictures beside its HTML."""
    return [each for each in part.walk() if not each.is_multipart() and _is_file(each)]


def _is_file(part: Message) -> bool:
    if part.get_content_maintype() == "multipart":  # without a boundary: what stands there is text
        return False
    if part.get_content_type() == "message/rfc822" or part.get_content_disposition() == "attachment":
        return True
    return part.get_content_maintype() != "text" or (
        part.get_content_subtype() not in {"plain", "html"} or _filename(part) != ""
    )


def _filename(part: Message) -> str:
    try:
        name = part.get_filename()
    except (LookupError, ValueError, TypeError):
        name = None
    return decode(str(name)).replace("/", "_").replace("\\", "_")[:200] if name else ""


def _file(part: Message, index: int) -> MailFile:
    mime_type = part.get_content_type()
    if mime_type == "message/rfc822":
        content = _enclosed(part)
        default = "message.eml"
    else:
        content = _payload(part)
        default = f"file-{index + 1}"
    return MailFile(index, _filename(part) or default, mime_type, content)


def _enclosed(part: Message) -> bytes:
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    if not isinstance(inner, Message):
        return _payload(part)
    try:
        return inner.as_bytes(policy=compat32)
    except (LookupError, ValueError, TypeError, AttributeError):
        return _payload(part)


def _payload(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (LookupError, ValueError, TypeError, AssertionError):
        payload = None
    return payload if isinstance(payload, bytes) else b""


def _part_text(part: Message, *, forwarded: bool = False) -> str:
    if part.is_multipart():
        return ""
    content, is_html = _payload(part), part.get_content_subtype() == "html"
    charset = _charset(part) or (charset_of_html(content) if is_html else "")
    text = decode_bytes(content, charset).replace("\0", "")
    if is_html:
        html = html_to_text(text[: 2 * MAX_TEXT], drop_quotes=not forwarded)
        return own_words(html, forwarded=forwarded)
    if str(part.get_param("format") or "").lower() == "flowed":
        text = _unflowed(text, joined_with_space=str(part.get_param("delsp") or "").lower() != "yes")
    return own_words(text[: 2 * MAX_TEXT], forwarded=forwarded)


def _charset(part: Message) -> str:
    try:
        charset = part.get_content_charset()
    except (LookupError, ValueError, TypeError):
        charset = None
    return charset or ""


def _unflowed(text: str, *, joined_with_space: bool) -> str:
    """Joins softly broken lines (RFC 3676, 4)."""
    out: list[str] = []
    soft = False
    for line in text.replace("\r\n", "\n").split("\n"):
        content = line.removeprefix(" ")
        quoted = content.startswith(">")
        if soft and not quoted and out:
            out[-1] += content
        else:
            out.append(content)
        soft = content.endswith(" ") and content != "-- " and not quoted
        if soft and not joined_with_space:
            out[-1] = out[-1][:-1]
    return "\n".join(out)
