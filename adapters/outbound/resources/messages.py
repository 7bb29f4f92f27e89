"""The JSON that is exchanged with resources over HTTP. Pure."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from domain.channels.answers import Choice
from domain.channels.rich import ConversationChange, RichContent
from domain.channels.rich_reading import BadContent, read_change, read_rich, read_silent
from domain.confirmations.policy import SENDER, approver_faults
from domain.conversations.choices import choice_faults
from domain.files import MAX_FILES, file_fault
from domain.routing.model import Confirmation, InputFile, ResultArtifact, RunRequest, RunResult, Usage
from domain.values import iso_milliseconds

MAX_TEXT = 1_000_000
"""Characters of an answer's text."""

MAX_ARTIFACT_BYTES = 25_000_000
"""Bytes of all the artifacts that come inside one answer; larger ones are given as an address."""

MAX_ANSWER_BYTES = 40_000_000
"""Bytes of a whole answer: base64 takes a third more, the text up to four bytes a character."""

MAX_TOKENS = 2**53
"""Tokens of a usage: JSON of many languages holds no larger number exactly."""


class BadAnswer(ValueError):
    """An answer that does not keep to the contract; the message names the field."""


def request_json(request: RunRequest) -> dict[str, Any]:
    """The request as the documented JSON object. The owner stays inside."""
    sender = request.sender
    resource = {
        "kind": str(request.resource.kind),
        "id": request.resource.id,
        "expertIndex": request.resource.expert_index,
    }
    body: dict[str, Any] = {
        "resource": resource,
        "requestId": request.request_id,
        "instanceId": request.instance_id,
        "channelId": request.channel_id,
        "sessionId": request.session_id,
        "sender": {
            "externalId": sender.external_id,
            "displayName": sender.display_name,
            "userId": sender.user_id,
            **({"verifiedBy": sender.verified_by} if sender.verified_by else {}),
        },
        "text": request.text,
        "files": _files_json(request.files),
        "approvedTools": list(request.approved_tools),
    }
    if (approval := request.approval) is not None:
        body["approval"] = {
            "confirmationId": approval.confirmation_id,
            "tool": approval.tool,
            "decision": approval.decision,
        }
    if request.choice:
        body["choice"] = True
    if request.reaction:
        body["reaction"] = request.reaction
    if request.context:
        body["context"] = request.context
    if request.form:
        body["form"] = request.form
    if (quoted := request.quoted) is not None:
        files = _files_json(quoted.files)
        body["quoted"] = {"text": quoted.text, "author": quoted.author, "files": files}
    if request.thread:
        body["thread"] = [
            {"text": message.text, "author": message.author, "at": iso_milliseconds(message.at)}
            for message in request.thread
        ]
    return body


def beside_message(request: RunRequest) -> dict[str, Any]:
    """The fields of a request besides the message, for agents that get the message in another form."""
    body = request_json(request)
    return {name: value for name, value in body.items() if name not in ("text", "quoted", "thread")}


def _files_json(files: Sequence[InputFile]) -> list[dict[str, Any]]:
    return [
        {"name": file.name, "mimeType": file.mime_type, "size": file.size, "url": file.url} for file in files
    ]


def result_of(value: Any) -> RunResult:
    """The answer of a resource. Raises `BadAnswer`; fields that the contract does not name are ignored."""
    if not isinstance(value, dict):
        raise BadAnswer("the answer is not a JSON object")
    artifacts = value.get("artifacts")
    confirmation = value.get("confirmation")
    choices = _list(value.get("choices"), "choices")
    rich, silent, change = beside_text(value)
    has_content = (
        "text" in value or artifacts or confirmation is not None or choices or rich or silent or change
    )
    if not has_content and not _wants_person(value):
        raise BadAnswer("the answer has no text")
    text = _text(value, "text", default="")
    files = [artifact_of(item, f"artifacts[{at}]") for at, item in enumerate(_list(artifacts, "artifacts"))]
    if confirmation is not None:
        if not isinstance(confirmation, dict):
            raise BadAnswer("confirmation is not an object")
        tool = _text(confirmation, "tool", "confirmation")
        by, minutes = _text(confirmation, "by", "confirmation", SENDER), confirmation.get("minutes")
        confirmation = checked_confirmation(tool, confirmation.get("parameters"), by, minutes)
    offered = []
    for at, item in enumerate(choices):
        if not isinstance(item, dict):
            raise BadAnswer(f"choices[{at}] is not an object")
        offered.append(
            Choice(_text(item, "label", f"choices[{at}]"), _text(item, "value", f"choices[{at}]", ""))
        )
    return checked_result(
        RunResult(
            text,
            tuple(files),
            confirmation,
            tuple(offered),
            _wants_person(value),
            rich=rich,
            silent=silent,
            change=change,
            usage=usage_of(value.get("usage"), "inputTokens", "outputTokens"),
        )
    )


def beside_text(value: Mapping[str, Any]) -> tuple[RichContent | None, bool, ConversationChange | None]:
    """The rich content of an answer, whether it is silent, and what it does to its conversation.

    Raises `BadAnswer`.
    """
    try:
        return read_rich(value), read_silent(value), read_change(value)
    except BadContent as error:
        raise BadAnswer(str(error)) from None


def usage_of(value: Any, input_name: str, output_name: str) -> Usage | None:
    """The counts of a `usage`; None for anything else. Resources had fields of this name, with other content, before
    it was read here: none of them is refused."""
    counts = [value.get(name) for name in (input_name, output_name)] if isinstance(value, dict) else []
    valid = [count for count in counts if type(count) is int and 0 <= count < MAX_TOKENS]
    return Usage(*valid) if len(valid) == 2 else None


def checked_result(result: RunResult) -> RunResult:
    """The result itself when it is within the limits. Raises `BadAnswer`."""
    if len(result.text) > MAX_TEXT:
        raise BadAnswer(f"text has over {MAX_TEXT} characters")
    if len(result.artifacts) > MAX_FILES:
        raise BadAnswer(f"artifacts has over {MAX_FILES} entries")
    if sum(len(artifact.data or b"") for artifact in result.artifacts) > MAX_ARTIFACT_BYTES:
        raise BadAnswer(f"artifacts hold over {MAX_ARTIFACT_BYTES} bytes; give an url for large files")
    for fault in choice_faults(result.choices):
        raise BadAnswer(f"{fault.field} {fault.message}")
    return result


def checked_artifact(
    name: str, mime_type: str, url: str | None, data: bytes | None, at: str
) -> ResultArtifact:
    """An artifact with a usable name, type and address. Raises `BadAnswer`; `at` says where it stands."""
    mime_type = mime_type or "application/octet-stream"
    if fault := file_fault(name, mime_type, url, data):
        raise BadAnswer(f"{at}{fault.field and '.'}{fault.field} {fault.message}")
    return ResultArtifact(name, mime_type, url, data)


def _wants_person(value: Mapping[str, Any]) -> bool:
    flag = value.get("handover")
    if flag is not None and not isinstance(flag, bool):
        raise BadAnswer("handover is not true or false")
    return bool(flag)


def artifact_of(item: Any, at: str) -> ResultArtifact:
    """The artifact in a JSON object with `name`, `mimeType`, and either `url` or `dataBase64`. Raises `BadAnswer`."""
    if not isinstance(item, dict):
        raise BadAnswer(f"{at} is not an object")
    data, encoded = None, _optional(item, "dataBase64", at)
    if encoded is not None:
        if len(encoded) > MAX_ARTIFACT_BYTES * 4 // 3 + 4:
            raise BadAnswer(f"{at}.dataBase64 holds over {MAX_ARTIFACT_BYTES} bytes; give an url instead")
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise BadAnswer(f"{at}.dataBase64 is not base64") from None
    return checked_artifact(
        _text(item, "name", at), _text(item, "mimeType", at, ""), _optional(item, "url", at), data, at
    )


def checked_confirmation(tool: str, parameters: Any, by: str = SENDER, minutes: Any = None) -> Confirmation:
    """A confirmation with a usable tool name; missing parameters are none. Raises `BadAnswer`."""
    if not tool.strip() or len(tool) > 256 or not tool.isprintable():
        raise BadAnswer("confirmation.tool is not the name of a tool")
    if parameters is None:
        parameters = {}
    if not isinstance(parameters, dict):
        raise BadAnswer("confirmation.parameters is not an object")
    if fault := next(approver_faults("confirmation", by, minutes), None):
        raise BadAnswer(f"{fault.field} {fault.message}")
    return Confirmation(tool, parameters, by, minutes)


def _list(value: Any, at: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadAnswer(f"{at} is not an array")
    return value


def _text(value: Mapping[str, Any], name: str, at: str = "", default: str | None = None) -> str:
    text = value.get(name)
    if text is None and default is not None:
        return default
    if not isinstance(text, str):
        raise BadAnswer(f"{at}.{name} is not a string" if at else f"{name} is not a string")
    return text


def _optional(value: Mapping[str, Any], name: str, at: str) -> str | None:
    return None if value.get(name) is None else _text(value, name, at)
