"""What a message that answers none must be like. Pure."""

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import timedelta

from domain import limits
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.conversations.choices import choice_faults
from domain.conversations.model import NewFile, NewMessage
from domain.files import MAX_FILES, file_fault
from domain.refusals import Conflict, Fault, Invalid
from ports.capabilities import TemplateRules
from ports.channels import Channel

_KEY = re.compile(rf"[!-~]{{1,{limits.IDEMPOTENCY_KEY}}}")
OCTETS = "application/octet-stream"


def check_message(channel: Channel[ChannelConfig, ChannelTarget], message: NewMessage) -> None:
    """Raises `Invalid` with every fault."""
    faults = [*_address_faults(message)]
    if not (message.text.strip() or message.files or message.template):
        faults.append(Fault("text", "is required, unless there are files or a template"))
    if message.snippet_id is not None:
        faults.append(Fault("snippetId", "takes the place of the text: leave one of both out"))
    if fault := limits.text_fault(message.text, limits.MESSAGE_TEXT):
        faults.append(Fault("text", fault))
    faults += _file_faults(message.files)
    faults += [*choice_faults(message.choices), *_template_faults(message)]
    if message.template and channel.template_rules is None:
        faults.append(Fault("template", f"the channel '{channel.definition.id}' has no templates"))
    if faults:
        raise Invalid.of(faults)


def check_key(key: str) -> None:
    """Raises `Invalid` for what cannot be an idempotency key."""
    if not _KEY.fullmatch(key):
        message = f"must be 1 to {limits.IDEMPOTENCY_KEY} printable ASCII characters without blanks"
        raise Invalid.of([Fault("Idempotency-Key", message)])


NO_ADDRESS = (
    "nothing says where messages to this conversation go: its latest message named no address for answers"
)


def check_window(rules: TemplateRules | None, message: NewMessage, silence: timedelta | None) -> None:
    """`silence`: for how long the person has not written, None where nothing is known. Raises `Conflict`."""
    if rules is None or message.template is not None or silence is None or silence <= rules.window:
        return
    hours = rules.window.total_seconds() / 3600
    raise Conflict(
        f"the person last wrote more than {hours:g} hours ago, and the platform takes only templates then: send a"
        " template"
    )


def digest_of(message: NewMessage) -> str:
    """By which the same message is recognised."""
    files = [
        [file.name, file.mime_type, file.url, file.data and hashlib.sha256(file.data).hexdigest()]
        for file in message.files
    ]
    template = message.template
    content = [
        message.session_id,
        message.to,
        message.subject,
        message.text,
        files,
        [[choice.label, choice.value] for choice in message.choices],
        template and [template.name, template.language, template.parameters],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _address_faults(message: NewMessage) -> Iterator[Fault]:
    if message.session_id is not None and message.to is not None:
        yield Fault("to", "give either sessionId or to, not both")
    if message.session_id is not None and message.subject:
        yield Fault("subject", "a conversation has its subject: give it together with to")
    yield from _line("to", message.to, limits.ADDRESS)
    yield from _line("subject", message.subject, limits.SUBJECT)
    if message.session_id is not None and (
        fault := (
            limits.text_fault(message.session_id, limits.SESSION_ID)
            or (None if message.session_id else "must not be empty")
        )
    ):
        yield Fault("sessionId", fault)


def _line(field: str, text: str | None, most: int) -> Iterator[Fault]:
    if text is None:
        return
    if fault := _given(text, most):
        yield Fault(field, fault)
    elif not text.isprintable():
        yield Fault(field, "must be one line, without control characters")


def _given(text: str, most: int) -> str | None:
    """Returns the fault of a text that must not be blank, or None."""
    return limits.text_fault(text, most) or ("must not be empty" if not text.strip() else None)


def _file_faults(files: tuple[NewFile, ...]) -> Iterator[Fault]:
    if len(files) > MAX_FILES:
        yield Fault("files", f"must be at most {MAX_FILES}")
        return
    if sum(len(file.data or b"") for file in files) > limits.MESSAGE_FILE_BYTES:
        most = limits.MESSAGE_FILE_BYTES // 1024 // 1024
        yield Fault("files", f"hold over {most} MB together; give the url of large files")
    for number, file in enumerate(files):
        if fault := file_fault(file.name, file.mime_type, file.url, file.data):
            yield Fault(f"files[{number}].{fault.field}".rstrip("."), fault.message)
        elif file.data == b"":
            yield Fault(f"files[{number}].dataBase64", "must not be empty")
        elif file.url and len(file.url) > limits.FILE_ADDRESS:
            yield Fault(f"files[{number}].url", f"must be at most {limits.FILE_ADDRESS} characters")


def _template_faults(message: NewMessage) -> Iterator[Fault]:
    template = message.template
    if message.choices and not message.text.strip():
        yield Fault("choices", "need a text that asks")
    if template is None:
        return
    if message.text or message.files or message.choices:
        yield Fault("template", "is sent in place of text, files and choices: leave these out")
    yield from _line("template.name", template.name, limits.TEMPLATE_NAME)
    yield from _line("template.language", template.language, limits.TEMPLATE_LANGUAGE)
    if len(template.parameters) > limits.TEMPLATE_PARAMETERS:
        yield Fault("template.parameters", f"must be at most {limits.TEMPLATE_PARAMETERS}")
        return
    for number, parameter in enumerate(template.parameters):
        if fault := _given(parameter, limits.TEMPLATE_PARAMETER):
            yield Fault(f"template.parameters[{number}]", fault)
