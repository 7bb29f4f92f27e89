"""What a visitor may write. Pure."""

import re
from collections.abc import Iterator

from domain import limits
from domain.confirmations.rules import is_approval
from domain.conversations.choices import is_reference
from domain.files.rules import file_fault
from domain.refusals import Fault, Invalid, TooLarge
from domain.web_chat.model import LONGEST_TEXT, MOST_FILES, VisitorMessage

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_message(message: VisitorMessage, most_file_bytes: int) -> None:
    """Raises `Invalid`, `TooLarge`."""
    if faults := list(_faults(message)):
        raise Invalid.of(faults)
    if sum(len(file.data) for file in message.files) > most_file_bytes:
        raise TooLarge(f"the files are over {most_file_bytes // (1024 * 1024)} MB together")


def claims_choice(message: VisitorMessage) -> bool:
    """The choice is no reference of a button: the visitor may have made it up."""
    return bool(message.choice) and not is_reference(message.choice) and not is_approval(message.choice)


def _faults(message: VisitorMessage) -> Iterator[Fault]:
    if not _UUID.fullmatch(message.id):
        yield Fault("id", "must be a UUID")
    if fault := limits.text_fault(message.text, LONGEST_TEXT):
        yield Fault("text", fault)
    if fault := limits.text_fault(message.choice, limits.CHOICE_VALUE):
        yield Fault("choice", fault)
    if len(message.files) > MOST_FILES:
        yield Fault("files", f"are more than {MOST_FILES}")
    if not (message.text.strip() or message.choice or message.files):
        yield Fault("text", "must not be empty")
    for number, file in enumerate(message.files):
        if of_file := file_fault(file.name, file.mime_type, None, file.data):
            yield Fault(f"files[{number}].{of_file.field}".rstrip("."), of_file.message)
