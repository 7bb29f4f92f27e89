"""Reads a raw mail (RFC 5322, RFC 2045 to 2049) into headers, text and files, and tolerates every malformation."""

import contextlib
import hashlib
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.policy import Compat32, compat32
from mimetypes import guess_type
from typing import TypeVar

from adapters.outbound.channels.common.contents import file_name
from adapters.outbound.mail.charsets import charset_of_html, decode_bytes
from adapters.outbound.mail.headers import Headers, decode, is_forwarded, storable
from adapters.outbound.mail.html_text import html_to_text, links_in, split_html
from adapters.outbound.mail.quotes import split_answer, without_signature
from adapters.outbound.mail.tnef import read_tnef, signed_content
from adapters.outbound.system.links import with_addresses
from domain.channels.messages import Quoted

T = TypeVar("T")

MAX_TEXT = 200_000
"""Characters of text that are handed on."""
MAX_PARTS = 1000
_STUB = 1000
"""Characters of the longest plain text that is compared with the HTML beside it."""
_MUCH_LONGER = 3
_BYTES = "application/octet-stream"
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/]*={0,2}[ \t]*")
_TNEF = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_TEXTS = frozenset({"text/plain", "text/html"})


_ALTERNATIVE_TEXTS = frozenset({"text/plain", "text/html", "text/enriched", "text/watch-html"})


class _RawHeaders(Compat32):
    """Reads raw bytes in headers, which many programs write into the names of files (RFC 6532)."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return storable(value)


POLICY = _RawHeaders()


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file in a mail; `index` counts the files of the mail in their order. `part` is the part of the mail in
    which it lies, `member` counts the files in that part, None where the part is the file."""

    index: int
    name: str
    mime_type: str
    content: bytes
    part: Message
    member: int | None = None


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
    return read_message(message_from_bytes(raw, policy=POLICY), raw)


def read_message(message: Message, raw: bytes = b"") -> Mail:
    """Reads a mail that is taken apart already; `raw` identifies one without a Message-ID."""
    headers = Headers((name, str(value)) for name, value in message.raw_items())
    is_quoting = is_answer(headers)
    texts: list[str] = []
    quotes: list[Quoted] = []
    files: list[MailFile] = []
    for leaf in _leaves(message):
        if not is_file(leaf.part, is_first=not texts):
            if not leaf.is_spare or not texts:
                text, quoted = _read_text(leaf.part, is_quoting=is_quoting)
                texts += [text] if text else []
                quotes += [quoted] if quoted else []
            continue
        member = None
        if leaf.origin is not leaf.part:
            member = sum(file.part is leaf.origin for file in files)
        files.append(_file(leaf, len(files), member))
    text = "\n\n".join(texts)[:MAX_TEXT]
    return Mail(headers, text, tuple(files), _fingerprint(headers, raw), _joined(quotes))


def is_answer(headers: Headers) -> bool:
    """Return True if the mail answers another one, and is not forwarded."""
    return bool(headers.message_ids("In-Reply-To") or headers.message_ids("References")) and not is_forwarded(
        headers.text("Subject")
    )


def content_of(part: Message, member: int | None) -> bytes | None:
    """The content of a file: of the part, or of the member with that number in it. None if it does not exist."""
    if member is None:
        return enclosed_mail(part) if part.get_content_type() == "message/rfc822" else _content(part)
    return next((file.content for file in read_message(part).files if file.member == member), None)


def clean_filename(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_")[:200]


def _fingerprint(headers: Headers, raw: bytes) -> str:
    """Tells different mails with the same Message-ID apart, and identifies those that have none."""
    if not headers.message_ids("Message-ID"):
        return hashlib.sha256(raw).hexdigest()
    values = (" ".join((headers.raw(name) or "").split()) for name in ("From", "Date", "Subject"))
    return hashlib.sha256("\0".join(values).encode(errors="replace")).hexdigest()


def _joined(quotes: list[Quoted]) -> Quoted | None:
    if len(quotes) < 2:
        return quotes[0] if quotes else None
    author = next((quoted.author for quoted in quotes if quoted.author), "")
    return Quoted("\n\n".join(quoted.text for quoted in quotes), author)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part to read. `origin` is the part of the mail in which it lies, itself as a rule. `is_spare`: its text
    stands for that of a mail that has no other."""

    part: Message
    origin: Message
    is_spare: bool = False


def _leaves(message: Message) -> Iterator[_Leaf]:
    """The parts to read, in order: of alternatives the best one, of containers their children."""
    pending = [_Leaf(message, message)]
    for _ in range(MAX_PARTS):
        if not pending:
            return
        leaf = pending.pop()
        part = leaf.part
        is_container = part.is_multipart() and part.get_content_type() != "message/rfc822"
        inner = _children(part) if is_container else _unwrapped(part)
        if inner is None:
            yield leaf
            continue
        is_whole = is_container and leaf.origin is part
        is_spare = leaf.is_spare or is_tnef(part)
        pending.extend(
            _Leaf(child, child if is_whole else leaf.origin, is_spare) for child in reversed(inner)
        )


def is_wrapper(part: Message) -> bool:
    """Return True if the part holds others in a format of its own, so that its content has to be read."""
    return is_tnef(part) or is_smime(part)


def is_tnef(part: Message) -> bool:
    return part.get_content_type() in _TNEF or filename(part).lower() == "winmail.dat"


def is_smime(part: Message) -> bool:
    return part.get_content_type() in _SMIME or filename(part).lower().endswith(".p7m")


def _unwrapped(part: Message) -> list[Message] | None:
    """What Outlook's winmail.dat or opaquely signed mail holds; None for any other part, and for what is
    encrypted."""
    if is_smime(part):
        signed = signed_content(_content(part))
        return None if signed is None else [message_from_bytes(signed, policy=POLICY)]
    mail = read_tnef(_content(part)) if is_tnef(part) else None
    if mail is None:
        return None
    kind, text = ("text/plain", mail.plain) if mail.plain else ("text/html", mail.html)
    body = [made_part(kind, text.encode("utf-8", "replace"), charset="utf-8")] if text else []
    return body + [
        made_part(file.mime_type or guess_type(file.name)[0] or _BYTES, file.content, file.name or "file")
        for file in mail.files
    ]


def made_part(mime_type: str, content: bytes, name: str = "", charset: str = "") -> Message:
    """A part with this content, a file where it has a name."""
    part = Message(POLICY)
    part.add_header("Content-Type", mime_type, **({"charset": charset} if charset else {}))
    if name:
        part.add_header("Content-Disposition", "attachment", filename=name)
    part.set_payload(content.decode("ascii", "surrogateescape"))
    return part


def _parts(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _children(part: Message) -> list[Message]:
    """Of alternatives the plain text unless it is empty, else HTML, else the last; and calendars or other files
    besides."""
    children = _parts(part)
    if part.get_content_type() != "multipart/alternative":
        return children
    plain = [child for child in children if child.get_content_type() == "text/plain"]
    chosen = _chosen_text(children, plain)
    others = (
        child
        for child in children
        if child not in (*chosen, *plain) and child.get_content_type() not in _ALTERNATIVE_TEXTS
    )
    return chosen + [file for child in others for file in _inner_files(child)]


def _chosen_text(children: list[Message], plain: list[Message]) -> list[Message]:
    html = [child for child in children if _html_parts([child])][-1:]
    text = "\n".join(_whole_text(child) for child in plain).strip()
    if not text:
        return html or children[-1:]
    if len(text) <= _STUB and _says_else(text, html):
        return plain + html
    return [_with_addresses(child, html) for child in plain]


def _html_parts(children: list[Message]) -> list[Message]:
    return [part for child in children for part in child.walk() if part.get_content_type() == "text/html"]


def _with_addresses(plain: Message, html: list[Message]) -> Message:
    """The plain text with the addresses of links, where the HTML beside it alone has them."""
    texts = [_decoded(part)[0].replace("\0", "")[: 2 * MAX_TEXT] for part in _html_parts(html)]
    links = [link for text in texts for link in links_in(text)]
    if not links or filename(plain):
        return plain
    text = _decoded(plain)[0][: 2 * MAX_TEXT]
    shown = with_addresses(text, links)
    if shown == text:
        return plain
    return made_part("text/plain", shown.encode("utf-8", "replace"), charset="utf-8")


def _says_else(text: str, html: list[Message]) -> bool:
    """Return True if the HTML is another text, as beside a plain "please view this in HTML": it is much longer or the
    plain text speaks of HTML, and most of the plain text is not in it."""
    letters = ""
    for part in _html_parts(html)[:1]:
        letters = "".join(filter(str.isalnum, _whole_text(part)[: 20 * _STUB].lower()))
    own = "".join(filter(str.isalnum, text.lower()))
    if "html" not in own and len(letters) < _MUCH_LONGER * len(own):
        return False
    pieces = [own[start : start + 4] for start in range(0, len(own), 4)]
    return bool(letters) and sum(piece in letters for piece in pieces) * 2 < len(pieces)


def _inner_files(part: Message) -> list[Message]:
    """The files inside an alternative that was not chosen, such as pictures beside its HTML. Enclosed mails are
    whole."""
    pending, files = [part], []
    while pending:
        inner = pending.pop()
        if inner.is_multipart() and inner.get_content_type() != "message/rfc822":
            pending.extend(reversed(_parts(inner)))
        elif is_file(inner, is_first=True):
            files.append(inner)
    return files


def is_file(part: Message, *, is_first: bool) -> bool:
    """Return True if a part is a file and not text; the first text of a mail may have a name as well."""
    if part.get_content_maintype() == "multipart":  # without a boundary: its content is text
        return False
    if part.get_content_type() not in _TEXTS:
        return True
    is_attached, has_name = part.get_content_disposition() == "attachment", bool(filename(part))
    return (is_attached and has_name) if is_first else (is_attached or has_name)


def _file(leaf: _Leaf, index: int, member: int | None) -> MailFile:
    part = leaf.part
    mime_type = part.get_content_type()
    is_mail = mime_type == "message/rfc822"
    name = filename(part) or file_name("message" if is_mail else f"file-{index + 1}", mime_type)
    content = enclosed_mail(part) if is_mail else _content(part)
    return MailFile(index, name, mime_type, content, leaf.origin, member)


def filename(part: Message) -> str:
    """The name that the part has as a file, '' without one."""
    for header, parameter in (("content-disposition", "filename"), ("content-type", "name")):
        value = _tolerant(lambda: part.get_param(parameter, None, header))  # noqa: B023 - called at once
        if isinstance(value, tuple):
            charset, _, text = (
                value  # RFC 2231; its bytes as Latin-1, but for those that stood there unencoded
            )
            is_read = any(char > "\xff" for char in text)
            value = text if is_read else decode_bytes(text.encode("latin-1"), charset or "")
        if name := clean_filename(decode(str(value or ""))):
            return name
    return ""


def enclosed_mail(part: Message) -> bytes:
    """The bytes of a mail that is a part of another one."""
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    if isinstance(inner, Message):
        enclosed = _tolerant(lambda: inner.as_bytes(policy=compat32))
        return _content(part) if enclosed is None else enclosed
    return _content(part)


def _content(part: Message) -> bytes:
    is_base64 = str(part.get("content-transfer-encoding") or "").strip().lower() == "base64"
    if is_base64 and (content := _above_footer(part)) is not None:
        return content
    payload = _tolerant(lambda: part.get_payload(decode=True))
    return payload if isinstance(payload, bytes) else b""


def _above_footer(part: Message) -> bytes | None:
    """The content of a part in base64 below which a mailing list or a scanner wrote lines of its own, and these where
    it is text. None for any other part, which the library decodes."""
    payload = part.get_payload()
    lines = payload.splitlines() if isinstance(payload, str) else []
    end = next((at for at, line in enumerate(lines) if not _BASE64_LINE.fullmatch(line)), 0)
    encoded = "".join(lines[:end]).replace(" ", "").rstrip("=")
    footer = "\n".join(lines[end:]) if part.get_content_maintype() == "text" else ""
    if not encoded:
        return None
    with contextlib.suppress(ValueError):
        content = b64decode(encoded + "=" * (-len(encoded) % 4))
        return b"\n".join(filter(None, (content, footer.encode("utf-8", "surrogateescape"))))
    return None


def _read_text(part: Message, *, is_quoting: bool) -> tuple[str, Quoted | None]:
    """What the sender wrote in a part, and what they quoted of the mail that it answers."""
    if part.is_multipart():
        return "", None
    text, is_html = _decoded(part)
    text = text.replace("\0", "")[: 2 * MAX_TEXT]
    if not is_quoting:
        return without_signature(html_to_text(text) if is_html else text), None
    return split_answer(*split_html(text)) if is_html else split_answer(text)


def _whole_text(part: Message) -> str:
    if part.is_multipart():
        return ""
    text, is_html = _decoded(part)
    return html_to_text(text[: 2 * MAX_TEXT]) if is_html else text.replace("\0", "").strip()


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
