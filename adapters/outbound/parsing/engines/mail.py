"""What a mail message holds, whichever format it lies in."""

from collections.abc import Sequence
from dataclasses import dataclass


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
    """Whether the text shows the attachment of that id in itself (RFC 2392)."""
    return bool(content_id) and f"cid:{content_id.strip('<> ')}" in markup
