"""Reads Bot Framework activities as Teams sends them.

Source: https://github.com/microsoft/Agents/blob/main/specs/activity/protocol-activity.md and
https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/universal-actions-for-adaptive-cards/work-with-universal-actions-for-adaptive-cards
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment, Event, Identity, RawAnswer, Received, Sender
from domain.refusals import Invalid

ACKNOWLEDGED = RawAnswer(200)
FILE_INFO = "application/vnd.microsoft.teams.file.download.info"
ACTION = "adaptiveCard/action"

_KNOWN = frozenset(
    {
        "conversationUpdate",
        "endOfConversation",
        "event",
        "installationUpdate",
        "messageDelete",
        "messageReaction",
        "messageUpdate",
        "typing",
    }
)
_TAG = re.compile(r"<at(?:\s[^<>]*)?>(.*?)</at>", re.DOTALL)
_GONE = "\0"
_AROUND = re.compile(rf"[ \t]*{_GONE}[ \t]*")
"""Where a mention was taken out. Other spaces stay: they may be the indentation of code."""
_NO_FILE = ("text/html", "application/vnd.microsoft.card.", "application/vnd.microsoft.teams.card.")


def read(activity: Mapping[str, Any]) -> Received:
    """The activity as an event, or as ignored. Raises `Invalid`."""
    kind = text(activity, "type")
    if kind == "message":
        return _message(activity)
    if kind == "invoke":
        return _invoke(activity)
    return Received(ACKNOWLEDGED, kind=f"ignored:{kind if kind in _KNOWN else 'other'}")


def _message(activity: Mapping[str, Any]) -> Received:
    if _is_bot(activity):
        return Received(ACKNOWLEDGED, kind="ignored:bot")
    choice, label = _pressed(at(activity, "value"))
    words = words_of(activity) or label
    attachments = tuple(_attachments(activity))
    if not words and not attachments and choice is None:
        return Received(ACKNOWLEDGED, kind="ignored:empty")
    return Received(ACKNOWLEDGED, events=(_event(activity, words, attachments, choice),))


def _invoke(activity: Mapping[str, Any]) -> Received:
    if text(activity, "name") != ACTION:
        return Received(_json({}), kind="ignored:invoke")
    if _is_bot(activity):
        return Received(_message_body("Received."), kind="ignored:bot")
    action = at(activity, "value", "action")
    choice, words = _pressed(at(action, "data"), text(action, "verb"))
    if not words and choice is None:
        return Received(_refused("The action has neither a verb nor data."), kind="ignored:action")
    event = _event(activity, words, (), choice)
    return Received(_message_body("Received."), events=(event,), kind="action")


def _pressed(data: object, verb: str = "") -> tuple[str | None, str]:
    """What a button carries: its choice, when it is one of ours, and the words it stands for."""
    if not isinstance(data, Mapping):
        return None, verb or text({"": data}, "")
    if text(data, "choice"):
        return text(data, "choice"), text(data, "label") or text(data, "choice")
    fields = {name: value for name, value in data.items() if name != "msteams"}
    return None, text(fields, "text") or verb or (json.dumps(fields, ensure_ascii=False) if fields else "")


def _message_body(words: str) -> RawAnswer:
    return _json({"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": words})


def _refused(words: str) -> RawAnswer:
    value = {"code": "BadRequest", "message": words}
    return _json({"statusCode": 400, "type": "application/vnd.microsoft.error", "value": value})


def _json(body: Mapping[str, Any]) -> RawAnswer:
    return RawAnswer(200, json.dumps(body).encode(), {"content-type": "application/json"})


def _is_bot(activity: Mapping[str, Any]) -> bool:
    """Whether a bot wrote it (Teams ids of bots begin with 28:), this one included."""
    sender = text(activity, "from", "id")
    own = text(activity, "recipient", "id")
    return (
        sender.startswith("28:") or text(activity, "from", "role") == "bot" or bool(sender and sender == own)
    )


def words_of(activity: Mapping[str, Any]) -> str:
    """The text without the bot's own mention; other mentions stay as names."""
    words = text(activity, "text").replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")
    own = text(activity, "recipient", "id")
    for entity in items(activity, "entities"):
        mention = text(entity, "text")
        if text(entity, "type") == "mention" and mention and own and text(entity, "mentioned", "id") == own:
            words = words.replace(mention, _GONE)
    name = text(activity, "recipient", "name")
    words = _TAG.sub(lambda tag: _GONE if name and tag[1].strip() == name else tag[1], words)
    return _AROUND.sub(" ", words).strip()


def _attachments(activity: Mapping[str, Any]) -> list[Attachment]:
    found = (_attachment(each, index) for index, each in enumerate(items(activity, "attachments")))
    return [each for each in found if each is not None]


def _attachment(given: object, index: int) -> Attachment | None:
    mime_type = text(given, "contentType")
    if mime_type == FILE_INFO:
        url = text(given, "content", "downloadUrl")
        name = text(given, "name") or f"file-{index + 1}"
        known = (
            mimetypes.guess_type(name)[0]
            or mimetypes.guess_type(f"x.{text(given, 'content', 'fileType')}")[0]
        )
        return (
            Attachment(name, known or "application/octet-stream", {"url": url}) if _is_address(url) else None
        )
    url = text(given, "contentUrl")
    if not mime_type or mime_type.startswith(_NO_FILE) or not _is_address(url):
        return None
    mime_type = "image/png" if mime_type == "image/*" else mime_type
    name = text(given, "name") or f"file-{index + 1}{mimetypes.guess_extension(mime_type) or ''}"
    return Attachment(name, mime_type, {"url": url})


def _is_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _event(
    activity: Mapping[str, Any], words: str, attachments: tuple[Attachment, ...], choice: str | None
) -> Event:
    conversation = text(activity, "conversation", "id")
    if not conversation:
        raise Invalid("conversation.id is missing.")
    activity_id = text(activity, "id")
    return Event(
        key=f"{conversation}:{activity_id}" if activity_id else None,
        session_id=conversation,
        sender=_sender(activity),
        text=words,
        target=_target(activity, conversation),
        attachments=attachments,
        choice=choice,
        is_direct=text(activity, "conversation", "conversationType") == "personal"
        or not at(activity, "conversation", "isGroup"),
        raw=dict(activity),
    )


def _sender(activity: Mapping[str, Any]) -> Sender:
    """Known by the id in the directory, which is the same for every bot, and by the id that Teams gives."""
    ids = [text(activity, "from", "aadObjectId"), text(activity, "from", "id")]
    known = tuple(dict.fromkeys(filter(None, ids)))
    if not known:
        raise Invalid("from.id is missing.")
    identities = tuple(Identity("enterprise-chat", each) for each in known)
    return Sender(known[0], text(activity, "from", "name"), identities)


def _target(activity: Mapping[str, Any], conversation: str) -> dict[str, Any]:
    """Where the answer goes; `prompt` is the message whose button was pressed."""
    target = {
        "serviceUrl": text(activity, "serviceUrl"),
        "conversation": conversation,
        "bot": {"id": text(activity, "recipient", "id"), "name": text(activity, "recipient", "name")},
        "user": {"id": text(activity, "from", "id"), "name": text(activity, "from", "name")},
    }
    if text(activity, "type") == "invoke":
        return {**target, "prompt": text(activity, "replyToId"), "replyTo": ""}
    is_submit = isinstance(at(activity, "value"), Mapping)
    prompt = text(activity, "replyToId") if is_submit else ""
    return {**target, "prompt": prompt, "replyTo": text(activity, "id")}
