"""Messages of Outlook ([MS-OXMSG], [MS-OXPROPS]): .msg files, by the `oxmsg` library."""

from collections.abc import Iterator, Sequence
from email.utils import format_datetime
from pathlib import Path

from olefile import OleFileIO
from oxmsg.domain import constants as names
from oxmsg.properties import Properties
from oxmsg.recipient import Recipient
from oxmsg.storage import Storage

from adapters.outbound.knowledge.parsing.readers.internet_mail import FIELDS, Attachment, MailMessage, shows
from adapters.outbound.knowledge.parsing.text import decoded, one_line

_HEADER, _INNER_HEADER, _ATTACHMENT_HEADER = 32, 24, 8
"""Bytes in front of the properties of a message, of a message in it, of an attachment ([MS-OXMSG] 2.4.1)."""
_SHORT_NAME, _DISPLAY_NAME, _CONTENT_ID, _RECIPIENT_KIND = 0x3704, 0x3001, 0x3712, 0x0C15
_INNER_MESSAGE = "__substg1.0_3701000D"
_TO, _CC = 1, 2
_NAMELESS = "attachment"


def load(path: Path) -> MailMessage:
    with OleFileIO(path) as ole:
        return _message(Storage.from_ole(ole), _HEADER)


def _message(storage: Storage, header: int) -> MailMessage:
    properties = Properties(storage, properties_header_offset=header)

    def text_of(name: int) -> str:
        return properties.str_prop_value(name) or ""

    recipients = [Recipient(inner) for inner in storage.iter_recipient_storages()]
    address = text_of(names.PID_SENDER_SMTP_ADDRESS) or text_of(names.PID_SENDER_EMAIL_ADDRESS)
    sent = properties.date_prop_value(names.PID_CLIENT_SUBMIT_TIME)
    subject = one_line(text_of(names.PID_SUBJECT))
    values = {
        "From": _person(text_of(names.PID_SENDER_NAME), address),
        "To": _listed(recipients, _TO),
        "Cc": _listed(recipients, _CC),
        "Date": format_datetime(sent) if sent else "",
        "Subject": subject,
    }
    fields = [(name, values[name]) for name in FIELDS if values[name]]
    data = properties.binary_prop_value(names.PID_HTML)
    markup = decoded(data, properties.body_encoding) if data else text_of(names.PID_BODY_HTML)
    attachments = list(_attachments(storage, markup or ""))
    return MailMessage(fields, subject, text_of(names.PID_BODY), markup or "", attachments)


def _listed(recipients: Sequence[Recipient], kind: int) -> str:
    return ", ".join(
        _person(recipient.name, recipient.email_address)
        for recipient in recipients
        if (recipient.properties.int_prop_value(_RECIPIENT_KIND) or _TO) == kind
    )


def _attachments(storage: Storage, markup: str) -> Iterator[Attachment | MailMessage]:
    """The attachments, without those that the text shows in itself."""
    for attached in storage.iter_attachment_storages():
        properties = Properties(attached, properties_header_offset=_ATTACHMENT_HEADER)
        if shows(markup, properties.str_prop_value(_CONTENT_ID) or ""):
            continue
        inner = next((part for part in attached.storages if part.name == _INNER_MESSAGE), None)
        if inner is not None:
            yield _message(inner, _INNER_HEADER)
            continue
        named = map(properties.str_prop_value, (names.PID_ATTACH_LONG_FILENAME, _SHORT_NAME, _DISPLAY_NAME))
        data = properties.binary_prop_value(names.PID_ATTACH_DATA_BINARY)
        yield Attachment(next(filter(None, named), _NAMELESS), data)


def _person(name: str, address: str) -> str:
    if not name or name == address:
        return one_line(address)
    return one_line(f"{name} <{address}>" if address else name)
