"""Messages of Outlook ([MS-OXMSG], [MS-OXPROPS]): .msg files, by the `oxmsg` library."""

from collections.abc import Sequence
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
    subject = one_line(properties.str_prop_value(names.PID_SUBJECT) or "")
    values = {**_people(storage, properties), "Subject": subject}
    if sent := properties.date_prop_value(names.PID_CLIENT_SUBMIT_TIME):
        values["Date"] = format_datetime(sent)
    text = properties.str_prop_value(names.PID_BODY) or ""
    markup = _markup(properties)
    attached = storage.iter_attachment_storages()
    attachments = [_attachment(inner) for inner in attached if not shows(markup, _content_id(inner))]
    fields = [(name, values[name]) for name in FIELDS if values.get(name)]
    return MailMessage(fields, subject, text, markup, attachments)


def _people(storage: Storage, properties: Properties) -> dict[str, str]:
    name = properties.str_prop_value(names.PID_SENDER_NAME) or ""
    address = properties.str_prop_value(names.PID_SENDER_SMTP_ADDRESS) or properties.str_prop_value(
        names.PID_SENDER_EMAIL_ADDRESS
    )
    recipients = [Recipient(each) for each in storage.iter_recipient_storages()]
    return {
        "From": _person(name, address or ""),
        "To": _listed(recipients, _TO),
        "Cc": _listed(recipients, _CC),
    }


def _listed(recipients: Sequence[Recipient], kind: int) -> str:
    found = (each for each in recipients if (each.properties.int_prop_value(_RECIPIENT_KIND) or _TO) == kind)
    return ", ".join(_person(each.name, each.email_address) for each in found)


def _person(name: str, address: str) -> str:
    if not name or name == address:
        return one_line(address)
    return one_line(f"{name} <{address}>" if address else name)


def _markup(properties: Properties) -> str:
    if data := properties.binary_prop_value(names.PID_HTML):
        return decoded(data, properties.body_encoding) or ""
    return properties.str_prop_value(names.PID_BODY_HTML) or ""


def _content_id(storage: Storage) -> str:
    properties = Properties(storage, properties_header_offset=_ATTACHMENT_HEADER)
    return properties.str_prop_value(_CONTENT_ID) or ""


def _attachment(storage: Storage) -> Attachment | MailMessage:
    inner = next((each for each in storage.storages if each.name == _INNER_MESSAGE), None)
    if inner is not None:
        return _message(inner, _INNER_HEADER)
    properties = Properties(storage, properties_header_offset=_ATTACHMENT_HEADER)
    found = (
        properties.str_prop_value(name)
        for name in (names.PID_ATTACH_LONG_FILENAME, _SHORT_NAME, _DISPLAY_NAME)
    )
    name = next(filter(None, found), _NAMELESS)
    return Attachment(name, properties.binary_prop_value(names.PID_ATTACH_DATA_BINARY))
