"""Message events of Slack's Events API (https://docs.slack.dev/reference/events/message). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment, ChannelMetadata, Event, Identity, Sender

from .wording import GREETING, leading_mention, mentions, plain, without_mention

_SPOKEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages that a person wrote just now; the others tell of edits, deletions, joins, bots."""


_SLACKBOT = "USLACKBOT"
"""Slack's own bot, which posts reminders and answers without a bot_id."""


def read_event(body: Mapping[str, Any], known: ChannelMetadata) -> Event | str:
    """The event of a mention or a direct message, or a word that says why there is none.

    A mention arrives both as 'message' and as 'app_mention': both have the same key.
    """
    event = at(body, "event")
    kind = text(event, "type")
    if kind not in ("message", "app_mention") or not isinstance(event, dict):
        return "event"
    bot = _bot_user(body, known)
    if reason := _unwanted(event, bot):
        return reason
    channel, user, said = text(event, "channel"), text(event, "user"), text(event, "text")
    direct = _is_direct(event, channel)
    if not bot or (kind == "app_mention" and not mentions(said, bot)):
        bot = _addressee(body, said, direct)
    if not direct and kind == "message" and not (bot and mentions(said, bot)):
        return "not-addressed"
    words = plain(without_mention(said, bot) if bot else said)
    attachments = tuple(filter(None, (_attachment(each) for each in items(event, "files"))))
    if direct and not words and not attachments and not said:
        return "empty"
    return Event(
        key=_key(body, channel, text(event, "ts")),
        session_id=_session(event, channel, direct),
        sender=Sender(user, identities=(Identity("workspace-chat", user),)),
        text=words,
        target=_target(event, channel),
        attachments=attachments,
        canned_reply=None if words or attachments else GREETING,
        ids=tuple(filter(None, (text(event, "ts"), *(() if said else _file_ids(event))))),
        ids_of_session=True,
        is_direct=direct,
    )


def _file_ids(event: Mapping[str, Any]) -> list[str]:
    """Of a message that is nothing but files: what we upload is one, what people write about our files is not."""
    return [text(each, "id") for each in items(event, "files")]


def _unwanted(event: Mapping[str, Any], bot: str) -> str:
    """Why the event is no message of a person to the bot, empty where it is one."""
    subtype, user = text(event, "subtype"), text(event, "user")
    if "bot_id" in event or "bot_profile" in event or subtype == "bot_message" or user == _SLACKBOT:
        return "bot"
    if subtype not in _SPOKEN or event.get("hidden") is True:
        return "subtype"
    if not user or not text(event, "channel"):
        return "incomplete"
    return "own" if bot and user == bot else ""


def _bot_user(body: Mapping[str, Any], known: ChannelMetadata) -> str:
    """The bot's own user id: as Slack told us, else as the event itself names it."""
    if user := text(known, "user_id"):
        return user
    for each in items(body, "authorizations"):
        if at(each, "is_bot") is True and text(each, "user_id"):
            return text(each, "user_id")
    return ""


def _addressee(body: Mapping[str, Any], said: str, direct: bool) -> str:
    """Who the text is addressed to, where the bot's own id is not known or is another in this workspace."""
    users = [each for each in items(body, "authed_users") if isinstance(each, str)]
    named = next((each for each in users if mentions(said, each)), "")
    return named or ("" if direct else leading_mention(said))


def _is_direct(event: Mapping[str, Any], channel: str) -> bool:
    kind = text(event, "channel_type")
    return kind == "im" or (not kind and channel.startswith("D"))


def _key(body: Mapping[str, Any], channel: str, ts: str) -> str | None:
    return f"{channel}:{ts}" if ts else text(body, "event_id") or None


def _session(event: Mapping[str, Any], channel: str, direct: bool) -> str:
    thread = text(event, "thread_ts")
    return f"{channel}:{thread}" if thread and not direct else channel


def _target(event: Mapping[str, Any], channel: str) -> dict[str, Any]:
    thread = text(event, "thread_ts")
    return {"channel": channel} | ({"thread_ts": thread} if thread else {})


def _attachment(file: Any) -> Attachment | None:
    """A shared file; files of other organizations come as an id alone (file_access: check_file_info)."""
    file_id, url = text(file, "id"), text(file, "url_private_download") or text(file, "url_private")
    if not (file_id or url) or text(file, "mode") in ("tombstone", "hidden_by_limit"):
        return None
    size = at(file, "size")
    return Attachment(
        name=text(file, "name") or text(file, "title") or file_id or "file",
        mime_type=text(file, "mimetype") or "application/octet-stream",
        source={"id": file_id, "url": url},
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )
