"""Mail messages: their content in whichever format, and .eml files (RFC 5322, RFC 2045)."""

from collections.abc import Sequence
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser
from pathlib import Path

from adapters.outbound.knowledge.parsing.text import ENCRYPTED, as_utf8, one_line, without_armor
from adapters.outbound.mail.charsets import charset_of_html, decode_bytes
from adapters.outbound.mail.headers import Headers
from adapters.outbound.mail.mime import POLICY, filename, is_smime, is_tnef
from adapters.outbound.mail.tnef import read_tnef, signed_content


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a message. `data` is None where it is not in the message itself."""

    name: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class MailMessage:
    """`fields` are the names and values of the header that people read; `markup` is the text as HTML; `remark` says
    what of the text could not be read."""

    fields: Sequence[tuple[str, str]]
    subject: str
    text: str
    markup: str
    attachments: "Sequence[Attachment | MailMessage]"
    remark: str = ""


FIELDS = ("From", "To", "Cc", "Date", "Subject")


def shows(markup: str, content_id: str) -> bool:
    """Return True if the text shows the attachment of that id in itself (RFC 2392)."""
    return bool(content_id) and f"cid:{content_id.strip('<> ')}" in markup


_NAMELESS = "attachment"
_AS_WRITTEN = frozenset({"", "7bit", "8bit", "binary"})


def load(path: Path) -> MailMessage:
    data = path.read_bytes()
    plain = as_utf8(data)  # a message that was saved as text in UTF-16 has no header otherwise
    return _parsed(plain, is_saved=plain is not data)


def _parsed(data: bytes, *, is_saved: bool = False) -> MailMessage:
    return _message(BytesParser(EmailMessage, policy=policy.default).parsebytes(data), is_saved=is_saved)


def _message(message: EmailMessage, *, is_saved: bool = False) -> MailMessage:
    """`is_saved`: parts of its text that are not encoded are UTF-8, whatever charset it declares."""
    headers = Headers((name, str(value)) for name, value in message.raw_items())
    fields = [(name, value) for name in FIELDS if (value := one_line(headers.text(name)))]
    subject = one_line(headers.text("Subject"))
    if (inner := _signed(message)) is not None:  # its text and files are the message's
        return MailMessage(fields, subject or inner.subject, inner.text, inner.markup, inner.attachments)
    if (remark := _encryption(message)) and message.is_multipart():
        return MailMessage(fields, subject, "", "", (), remark)
    text, markup, attachments, was_encrypted = _content_of(message, is_saved=is_saved)
    return MailMessage(fields, subject, text, markup, attachments, ENCRYPTED if was_encrypted else remark)


def _content_of(
    message: EmailMessage, *, is_saved: bool
) -> tuple[str, str, list[Attachment | MailMessage], bool]:
    """Text, HTML and attachments of a message, and whether some of its text was encrypted."""
    markup = _text(message.get_body(("html",)), is_saved=is_saved)
    parts = [part for part in message.iter_attachments() if not _is_layout(part, markup)]
    more = [_text(part, is_saved=is_saved) for part in parts if _is_text(part)]
    written = "\n\n".join([_text(message.get_body(("plain",)), is_saved=is_saved), *more]).strip()
    text, was_encrypted = without_armor(written)
    attachments: list[Attachment | MailMessage] = []
    for part in parts:
        if is_tnef(_named(part)) and (tnef := read_tnef(_content(part))) is not None:
            if not (text + markup):
                text, markup = tnef.plain, tnef.html
            attachments += [Attachment(file.name or _NAMELESS, file.content) for file in tnef.files]
        elif not _is_text(part):
            attachments.append(_attachment(part))
    return text, markup, attachments, was_encrypted


def _is_layout(part: Message, markup: str) -> bool:
    """Return True for parts that the text shows in itself, such as logos, and for signatures, which nobody reads."""
    is_signature = part.get_content_subtype() in ("pkcs7-signature", "x-pkcs7-signature", "pgp-signature")
    return is_signature or shows(markup, str(part["Content-ID"] or ""))


def _attachment(part: Message) -> Attachment | MailMessage:
    if signed := _signed(part):
        return signed
    payload = part.get_payload()
    if part.get_content_type() == "message/rfc822" and isinstance(payload, list):
        inner = next((message for message in payload if isinstance(message, EmailMessage)), None)
        if inner is not None:
            return _message(inner)
    data = part.get_payload(decode=True)
    return Attachment(filename(_named(part)) or _NAMELESS, data if isinstance(data, bytes) else None)


def _encryption(message: Message) -> str:
    """The remark on a message whose text is encrypted; empty for any other."""
    if message.get_content_type() == "multipart/encrypted":
        return ENCRYPTED
    is_sealed = not message.is_multipart() and is_smime(_named(message))
    return "the text is encrypted (S/MIME) and was not read" if is_sealed else ""


def _signed(part: Message) -> MailMessage | None:
    """The message in an opaquely signed part; None for any other part."""
    content = signed_content(_content(part)) if is_smime(_named(part)) else None
    return None if content is None else _parsed(content)


def _content(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _named(part: Message) -> Message:
    """The fields that name and type a part, as raw bytes allow to read them."""
    named = Message(POLICY)
    for name, value in part.raw_items():
        if name.lower() in ("content-type", "content-disposition"):
            named[name] = str(value)
    return named


def _is_text(part: Message) -> bool:
    """The text goes on behind a picture."""
    return part.get_content_type() == "text/plain" and not part.get_filename()


def _text(part: Message | None, *, is_saved: bool = False) -> str:
    data = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(data, bytes):
        return ""
    is_as_written = str(part["Content-Transfer-Encoding"] or "").strip().lower() in _AS_WRITTEN
    charset = part.get_content_charset() or ""
    if not charset and part.get_content_subtype() == "html":
        charset = charset_of_html(data)
    return decode_bytes(data, "utf-8" if is_saved and is_as_written else charset)
