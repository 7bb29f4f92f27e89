"""Mail messages as they travel (RFC 5322, RFC 2045): .eml files."""

from collections.abc import Iterator
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.parser import BytesParser
from pathlib import Path

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.engines.mail import FIELDS, Attachment, MailMessage, shows
from adapters.outbound.parsing.text import decoded

_NAMELESS = "attachment"


def load(path: Path) -> MailMessage:
    with path.open("rb") as file:
        return _message(BytesParser(EmailMessage, policy=policy.default).parse(file))


def _message(message: EmailMessage) -> MailMessage:
    values: dict[str, str] = {}
    for name, value in message.raw_items():
        values.setdefault(name.title(), _field(str(value)))
    fields = [(name, values[name]) for name in FIELDS if values.get(name)]
    markup = _text(message.get_body(("html",)))
    parts = [part for part in message.iter_attachments() if not _is_layout(part, markup)]
    more = [_text(part) for part in parts if _is_text(part)]
    text = "\n\n".join([_text(message.get_body(("plain",))), *more]).strip()
    attachments = [_attachment(part) for part in parts if not _is_text(part)]
    return MailMessage(fields, values.get("Subject", ""), text, markup, attachments)


def _field(value: str) -> str:
    """A value with its encoded words decoded (RFC 2047); as it stands where they are broken."""
    try:
        return one_line(str(make_header(decode_header(value))))
    except (HeaderParseError, LookupError, UnicodeError, ValueError):
        return one_line(value)


def _is_layout(part: Message, markup: str) -> bool:
    """What the text shows in itself, such as logos; signatures, which nobody reads."""
    is_signature = part.get_content_subtype() in ("pkcs7-signature", "x-pkcs7-signature", "pgp-signature")
    return is_signature or shows(markup, str(part["Content-ID"] or ""))


def _is_text(part: Message) -> bool:
    """The text goes on behind a picture."""
    return part.get_content_type() == "text/plain" and not part.get_filename()


def _text(part: Message | None) -> str:
    data = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(data, bytes):
        return ""
    return decoded(data, part.get_content_charset()) or ""


def _attachment(part: Message) -> Attachment | MailMessage:
    inner = next(_inner(part), None)
    if inner is not None:
        return _message(inner)
    data = part.get_payload(decode=True)
    return Attachment(part.get_filename() or _NAMELESS, data if isinstance(data, bytes) else None)


def _inner(part: Message) -> Iterator[EmailMessage]:
    if part.get_content_type() == "message/rfc822":
        payload = part.get_payload()
        yield from (
            (each for each in payload if isinstance(each, EmailMessage)) if isinstance(payload, list) else ()
        )
