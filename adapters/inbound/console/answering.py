"""Answers of a person to a conversation, from a form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from adapters.inbound.console.requests import caller_of, services_of
from domain.channels.answers import Choice
from domain.conversations.model import NewFile, NewMessage
from domain.conversations.validation import digest_of
from domain.limits import MESSAGE_FILE_BYTES
from domain.refusals import Conflict, Fault, Invalid

_FIELDS = ("text", "files", "choices")


async def answer_of(form: FormData, session_id: str) -> NewMessage:
    """The message that the form holds. Raises `Invalid` for files that are too large."""
    uploads = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
    if sum(file.size or 0 for file in uploads) > MESSAGE_FILE_BYTES:
        most = MESSAGE_FILE_BYTES // 1024 // 1024
        raise Invalid.of([Fault("files", f"hold over {most} MB together")])
    files = [NewFile(str(file.filename), file.content_type or "", data=await file.read()) for file in uploads]
    labels = [line.strip() for line in str(form.get("choices", "")).splitlines() if line.strip()]
    return NewMessage(
        session_id=session_id,
        text=str(form.get("text", "")).replace("\r\n", "\n").strip(),
        files=tuple(files),
        choices=tuple(Choice(label, "") for label in labels),
    )


async def sent(request: Request, instance_id: int, message: NewMessage, after: str) -> None:
    """Sends the message once, however often the form is posted: `after` names the message that it was written below.
    Raises as `Messages.send`."""
    caller = caller_of(request)
    content = f"{caller.user_id}\n{after}\n{digest_of(message)}"
    key = f"console-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"
    await services_of(request).messages.send(caller, instance_id, message, key)


def faults_by_field(refusal: Invalid | Conflict) -> Mapping[str, str]:
    """What is wrong, by the field that it stands beside: `files[2].name` is `files`; what is of none is `text`."""
    faults: dict[str, str] = {}
    for fault in refusal.faults if isinstance(refusal, Invalid) else ():
        name = re.split(r"[\[.]", fault.field)[0]
        field, text = (name, fault.message) if name in _FIELDS else ("text", str(fault))
        faults[field] = f"{faults[field]}; {text}" if field in faults else text
    return faults or {"text": refusal.message}
