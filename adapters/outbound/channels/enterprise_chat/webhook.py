"""Calls of the Bot Framework: the proof of their origin, a bearer token that it signs, and their activity. Pure.

Sources: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
(section "Authenticate requests from the Bot Connector service to your bot"),
https://github.com/microsoft/Agents/blob/main/specs/activity/protocol-activity.md and
https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/universal-actions-for-adaptive-cards/work-with-universal-actions-for-adaptive-cards
"""

import json
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from itertools import count, islice
from typing import Any

import jwt

from adapters.outbound.channels.common import calls, contents
from adapters.outbound.channels.common.bodies import at, items, json_object, same, text
from adapters.outbound.channels.common.messages import is_own
from adapters.outbound.system.links import with_addresses
from domain.channels import messages
from domain.channels.refused import BOT, CHANNEL
from domain.conversations.forms import opens_dialog, written_form
from domain.feedback.model import EMOJI, Rating
from domain.refusals import Forbidden, Invalid, Unauthenticated, Unavailable
from ports.capabilities import StaleMetadata

from . import forms
from .config import TARGET, TeamsConfig, TeamsTarget
from .quoting import CARDS, HtmlPart, cards_of, forwarded_in, quoted_in, read_html

ALGORITHM = "RS256"
LEEWAY = 300.0
"""Seconds by which clocks may differ, as Microsoft documents."""
_MAX_TOKEN = 16_384
ACKNOWLEDGED = messages.RawAnswer(200)
FILE_INFO = "application/vnd.microsoft.teams.file.download.info"
ACTION = "adaptiveCard/action"
FEEDBACK = "message/submitAction"
"""https://learn.microsoft.com/microsoftteams/platform/bots/how-to/bot-messages-ai-generated-content"""

_KNOWN = frozenset({
    "conversationUpdate", "endOfConversation", "event", "installationUpdate", "messageReaction", "typing",
})  # fmt: skip
_CHANGES = {"messageUpdate": messages.Change.EDITED, "messageDelete": messages.Change.DELETED}
_TAG = re.compile(r"<at(?:\s[^<>]*)?>((?:[^<]|<(?!/?at\b))*)</at>")
_MOST_MENTIONS = 20
"""Ways to write the bot's name in one message."""
_GONE = "\0"
_AROUND = re.compile(rf"(?:(?<![ \t])[ \t]+)?{_GONE}[ \t]*")
"""Where a mention was taken out. Other spaces stay: they may be the indentation of code."""
_PLACEHOLDER = re.compile(r"<quoted\b[^<>]*/>")
"""Stands in the text for the message of an entity `quotedReply`."""
_RECEIVED = calls.json_answer(
    {"statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": "Received."}
)
_REFUSED = calls.json_answer(
    {
        "statusCode": 400,
        "type": "application/vnd.microsoft.error",
        "value": {"code": "BadRequest", "message": "The action has neither a verb nor data."},
    }
)


def receive(
    config: TeamsConfig, call: messages.RawCall, metadata: messages.ChannelMetadata, now: datetime
) -> messages.Received:
    """Verifies the origin of a call, before anybody reads the body, and reads it.

    Raises `NotFound`, `Invalid`, `Unauthenticated`, `Forbidden`, `StaleMetadata` (signed with a key that is not in
    `metadata`), `Unavailable` (no keys could be fetched).
    """
    calls.require_webhook(call)
    if call.method != "POST":
        raise Invalid("Activities are posted.")
    if not config.app_id:
        return replace(_addressed(config, json_object(call.body)), missing_proof_field="appId")
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip() or len(token) > _MAX_TOKEN:
        raise Unauthenticated("The call has no bearer token of the Bot Framework.")
    key, claims = _verified(token.strip(), metadata)
    _check_claims(claims, config.app_id, metadata, now.timestamp())
    activity = json_object(call.body)
    # A token is bound to one service URL, and its key to the channels that endorse it.
    bound = text(claims, "serviceurl") or text(claims, "serviceUrl")
    if not bound or not same(bound.rstrip("/"), text(activity, "serviceUrl").rstrip("/")):
        raise Forbidden("The bearer token is for another serviceUrl than the activity's.")
    endorsed = at(key, "endorsements")
    if isinstance(endorsed, list) and text(activity, "channelId") not in endorsed:
        raise Forbidden("The key of the bearer token does not speak for the activity's channelId.")
    return _addressed(config, activity)


def _addressed(config: TeamsConfig, activity: Mapping[str, Any]) -> messages.Received:
    """Reads an activity of a conversation in which the bot answers, and which addresses it."""
    received = read(activity)
    if all(event.is_direct for event in received.events):
        return received
    conversation = text(activity, "conversation", "id")
    ids = [conversation, conversation.partition(";")[0], text(activity, "channelData", "channel", "id")]
    mentioned = mentions_bot(activity)
    if not config.allows(*ids, text(activity, "channelData", "team", "id")):
        is_new = received.kind == "message" and mentioned
        events = tuple(replace(event, refused=CHANNEL) for event in received.events if is_new)
        return messages.Received(received.answer, events, kind=f"ignored:{CHANNEL}")
    is_plain = received.kind == "message" and not isinstance(at(activity, "value"), Mapping)
    if config.require_mention and is_plain and not mentioned:
        return messages.Received(received.answer, kind="ignored:not-addressed")
    return received


def _verified(token: str, metadata: messages.ChannelMetadata) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The key that signed the token, and its claims, whose times are checked apart, by the clock of the call."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, RecursionError):  # PyJWT reads the header's JSON whatever its nesting
        raise Unauthenticated("The bearer token is not a JSON Web Token.") from None
    if header.get("alg") != ALGORITHM:
        raise Unauthenticated(f"The bearer token is not signed with {ALGORITHM}.")
    keys = [key for key in items(metadata, "keys") if text(key, "kty") == "RSA"]
    if not keys:
        raise Unavailable("The Bot Framework's signing keys could not be fetched; try again.")
    key_id = text(header, "kid")
    key: Mapping[str, Any] | None = next((key for key in keys if text(key, "kid") == key_id), None)
    if not key_id or key is None:
        raise StaleMetadata("The bearer token is signed with an unknown key.")
    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
    try:
        public = jwt.PyJWK(dict(key), algorithm=ALGORITHM)
        claims: Mapping[str, Any] = jwt.decode(token, public, algorithms=[ALGORITHM], options=options)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise Unauthenticated("The signature of the bearer token is wrong.") from None
    return key, claims


def _check_claims(
    claims: Mapping[str, Any], app_id: str, metadata: messages.ChannelMetadata, now: float
) -> None:
    """Raises `Unauthenticated` for another audience or issuer, and before and after the validity of the token."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if not any(same(str(name), app_id) for name in audiences):
        raise Unauthenticated("The bearer token is for another app: its audience is not appId.")
    if not same(text(claims, "iss"), text(metadata, "issuer")):
        raise Unauthenticated("The bearer token has another issuer than the Bot Framework.")
    expires = _seconds(claims.get("exp"))
    begins = _seconds(claims["nbf"]) if "nbf" in claims else float("-inf")
    if expires is None or begins is None or now >= expires + LEEWAY or now < begins - LEEWAY:
        raise Unauthenticated("The bearer token is not valid now: it has ended or not begun.")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read(activity: Mapping[str, Any]) -> messages.Received:
    """The activity as an event, or as ignored. Raises `Invalid`."""
    kind = text(activity, "type")
    if kind == "message":
        received = _message(activity)
    elif kind == "invoke":
        received = _invoke(activity)
    elif kind in _CHANGES and (_is_bot(activity) or not text(activity, "id")):
        received = messages.Received(ACKNOWLEDGED, kind="ignored:bot")
    elif kind in _CHANGES:  # an edited or deleted message has the id of the message
        change, event = _CHANGES[kind], _event(activity)
        key = f"{event.key}:{text(activity, 'timestamp') or change}"
        received = messages.Received(
            ACKNOWLEDGED, events=(replace(event, key=key, change=change),), kind=change
        )
    else:
        received = messages.Received(ACKNOWLEDGED, kind=f"ignored:{kind if kind in _KNOWN else 'other'}")
    events = (replace(event, context={**_context(activity), **event.context}) for event in received.events)
    return replace(received, events=tuple(events))


def _context(activity: Mapping[str, Any]) -> dict[str, object]:
    """The person's language and time zone, the team and the channel, the data of a card that another program sent."""
    client = next((part for part in items(activity, "entities") if text(part, "type") == "clientInfo"), None)
    conversation, channel = at(activity, "conversation"), at(activity, "channelData", "channel")
    team = at(activity, "channelData", "team")
    in_group = at(conversation, "isGroup") is True
    name = text(channel, "name") or text(conversation, "name")
    importance = text(activity, "importance").lower()
    return {
        "language": text(activity, "locale") or text(client, "locale"),
        "group": {"id": text(channel, "id") or text(conversation, "id"), "name": name} if in_group else {},
        "payload": _foreign_data(activity),
        "platform": {
            "team": {"id": text(team, "id"), "name": text(team, "name")},
            "tenantId": text(conversation, "tenantId"),
            "timeZone": text(activity, "localTimezone") or text(client, "timezone"),
            "importance": "" if importance == "normal" else importance,
        },
    }


def _foreign_data(activity: Mapping[str, Any]) -> object:
    """The data of a card that another program sent."""
    data = at(activity, "value", "action", "data") or at(activity, "value")
    return data if isinstance(data, Mapping) and not text(data, "choice") else ""


def _message(activity: Mapping[str, Any]) -> messages.Received:
    if _is_bot(activity):
        own, sender = text(activity, "recipient", "id"), text(activity, "from", "id")
        is_other = bool(own and sender) and sender != own and mentions_bot(activity)
        events = (replace(_event(activity), refused=BOT),) if is_other else ()
        return messages.Received(ACKNOWLEDGED, events, kind=f"ignored:{BOT}")
    choice, label = _pressed(at(activity, "value"))
    event = _filled_in(_event(activity, label, choice), at(activity, "value"))
    if not event.has_content and choice is None:
        parts = items(activity, "attachments")
        has_parts = any(
            text(part, "contentType") not in ("", "text/html") for part in parts
        )  # such as a card
        if not (event.is_direct and has_parts):
            return messages.Received(ACKNOWLEDGED, kind="ignored:empty")
        event = replace(event, canned_reply=contents.unreadable())
    return messages.Received(ACKNOWLEDGED, events=(event,))


_THUMBS = {"like": EMOJI[Rating.UP], "dislike": EMOJI[Rating.DOWN]}


def _invoke(activity: Mapping[str, Any]) -> messages.Received:
    thumb = _THUMBS.get(text(activity, "value", "actionValue", "reaction"))
    if text(activity, "name") == FEEDBACK and thumb and not _is_bot(activity):
        vote = replace(_event(activity), text="", reaction=thumb, reacted_ref=text(activity, "replyToId"))
        return messages.Received(calls.json_answer({}), events=(vote,), kind="reaction")
    if text(activity, "name") != ACTION:
        return messages.Received(calls.json_answer({}), kind="ignored:invoke")
    if _is_bot(activity):
        return messages.Received(_RECEIVED, kind="ignored:bot")
    action = at(activity, "value", "action")
    choice, content = _pressed(at(action, "data"), text(action, "verb"))
    if not content and choice is None:
        return messages.Received(_REFUSED, kind="ignored:action")
    event = _filled_in(_event(activity, content, choice), at(action, "data"))
    return messages.Received(_RECEIVED, events=(event,), kind="action")


def _filled_in(event: messages.Event, data: object) -> messages.Event:
    """The event of a sent form of ours with what was entered."""
    if event.choice is None or not opens_dialog(event.choice) or not isinstance(data, Mapping):
        return event
    entered = forms.entered(data)
    return replace(event, text=written_form(entered) or event.text, form_input=entered)


def _pressed(data: object, verb: str = "") -> tuple[str | None, str]:
    """The choice of a button, when it is one of ours, and the text that it stands for."""
    if not isinstance(data, Mapping):
        return None, verb or text({"": data}, "")
    if choice := text(data, "choice"):
        return choice, text(data, "label") or choice
    fields = {name: value for name, value in data.items() if name != "msteams"}
    return None, text(fields, "text") or verb or (json.dumps(fields, ensure_ascii=False) if fields else "")


def _is_bot(activity: Mapping[str, Any]) -> bool:
    """Return True if a bot wrote it (Teams ids of bots begin with 28:), this one included."""
    sender = text(activity, "from", "id")
    own = text(activity, "recipient", "id")
    return (
        sender.startswith("28:") or text(activity, "from", "role") == "bot" or bool(sender and sender == own)
    )


def content_of(activity: Mapping[str, Any], part: HtmlPart) -> str:
    """The text without the bot's own mention and without a forwarded message, and with the addresses of links; other
    mentions stay as names."""
    content = text(activity, "text").replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")
    own = text(activity, "recipient", "id")
    mentions = (
        text(entity, "text")
        for entity in items(activity, "entities")
        if own and text(entity, "type") == "mention" and text(entity, "mentioned", "id") == own
    )
    for mention in islice(dict.fromkeys(filter(None, mentions)), _MOST_MENTIONS):
        content = content.replace(mention, _GONE)
    name = text(activity, "recipient", "name")
    content = _TAG.sub(lambda tag: _GONE if name and tag[1].strip() == name else tag[1], content)
    content = _AROUND.sub(" ", _PLACEHOLDER.sub("", content)).strip()
    own = without_end(content, part.label_only) if part.forwarded else content
    return with_addresses(own, part.links, complete=True) if content else part.written


def without_end(content: str, end: str) -> str:
    """The content before its end, if it ends so, whatever the white space."""
    last = "".join(end.split())
    if not last or not "".join(content.split()).endswith(last):
        return content
    position, left = len(content), len(last)
    while left:
        position -= 1
        left -= not content[position].isspace()
    return content[:position].strip()


def mentions_bot(activity: Mapping[str, Any]) -> bool:
    """True where the activity does not tell who the bot is."""
    own, name = text(activity, "recipient", "id"), text(activity, "recipient", "name")
    mentioned = (text(entity, "mentioned", "id") for entity in items(activity, "entities"))
    tags = (tag[1].strip() for tag in _TAG.finditer(text(activity, "text")))
    return not own or own in mentioned or bool(name and name in tags)


def _attachment(number: int, file: object) -> messages.Attachment | None:
    mime_type, url = text(file, "contentType"), text(file, "contentUrl")
    name = text(file, "name") or f"file-{number}"
    if mime_type == FILE_INFO:
        url, extension = text(file, "content", "downloadUrl"), text(file, "content", "fileType")
        by_name, by_extension = mimetypes.guess_type(name)[0], mimetypes.guess_type(f"x.{extension}")[0]
        mime_type = by_name or by_extension or "application/octet-stream"
    elif not mime_type or mime_type.startswith(("text/html", *CARDS)):
        return None
    else:
        mime_type = "image/png" if mime_type == "image/*" else mime_type
        name = text(file, "name") or f"{name}{mimetypes.guess_extension(mime_type) or ''}"
    return (
        messages.Attachment(name, mime_type, {"url": url})
        if url.startswith(("https://", "http://"))
        else None
    )


def _event(activity: Mapping[str, Any], label: str = "", choice: str | None = None) -> messages.Event:
    """`label`: the text of a message that has none, as of a pressed button."""
    conversation = text(activity, "conversation", "id")
    if not conversation:
        raise Invalid("conversation.id is missing.")
    activity_id = text(activity, "id")
    part = read_html(activity)
    quoted = quoted_in(activity, part)
    is_invoke = text(activity, "type") == "invoke"
    is_press = is_invoke or isinstance(at(activity, "value"), Mapping)
    target = TeamsTarget(
        service_url=text(activity, "serviceUrl"),
        conversation=conversation,
        bot={"id": text(activity, "recipient", "id"), "name": text(activity, "recipient", "name")},
        user={"id": text(activity, "from", "id"), "name": text(activity, "from", "name")},
        prompt=text(activity, "replyToId") if is_press else "",
        reply_to="" if is_invoke else activity_id,
    )
    return messages.Event(
        key=f"{conversation}:{activity_id}" if activity_id else None,
        session_id=conversation,
        sender=_sender(activity),
        text=content_of(activity, part) or label or ("" if quoted else cards_of(activity)),
        target=TARGET.dump(target),
        attachments=tuple(filter(None, map(_attachment, count(1), items(activity, "attachments")))),
        choice=choice,
        claims_choice=choice is not None and not is_own(choice),  # a client may send any value
        is_direct=text(activity, "conversation", "conversationType") == "personal"
        or not at(activity, "conversation", "isGroup"),
        quoted=quoted,
        context=forwarded_in(activity),
        raw=dict(activity),
        message_id=activity_id,
    )


def _sender(activity: Mapping[str, Any]) -> messages.Sender:
    """Identified by the id in the directory, which is the same for every bot, and by the id that Teams gives. On
    other channels of the Bot Framework, such as Direct Line, whoever has their secret chooses these ids."""
    ids = [text(activity, "from", "aadObjectId"), text(activity, "from", "id")]
    sender_ids = tuple(dict.fromkeys(filter(None, ids)))
    if not sender_ids:
        raise Invalid("from.id is missing.")
    identities = tuple(messages.Identity("enterprise-chat", sender_id) for sender_id in sender_ids)
    is_teams = text(activity, "channelId") == "msteams"
    return messages.Sender(sender_ids[0], text(activity, "from", "name"), identities if is_teams else ())
