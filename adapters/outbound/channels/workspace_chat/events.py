"""Message events of Slack's Events API and Slack's markup in them. Pure.

Sources: https://docs.slack.dev/reference/events/message and
https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, size, text
from adapters.outbound.channels.common.contents import card_text, emoji_named, forwarded, unreadable
from domain.channels.answers import Author
from domain.channels.messages import (
    Attachment,
    Change,
    ChannelMetadata,
    Event,
    Identity,
    Merge,
    Quoted,
    Sender,
    SessionAlias,
)
from domain.channels.refused import BOT, CHANNEL

from .config import TARGET, SlackConfig, SlackTarget

GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."

_BY_PEOPLE = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages that a person wrote just now; the others are edits, deletions, joins, messages of bots."""
_SLACKBOT = "USLACKBOT"
"""Slack's own bot, which posts reminders and answers without a bot_id."""

_MARK = re.compile(r"<([^<>\s][^<>]*)>")
_TYPED = re.compile(r"<(?![@#!][^<>]|https?://|mailto:)([^<>]*)>")
_LEADING_MENTION = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>")


def read_event(config: SlackConfig, body: Mapping[str, Any], metadata: ChannelMetadata) -> Event | str:
    """The event of a mention, of a message to the bot or of one in a thread, or the reason why there is none.

    A mention arrives both as 'message' and as 'app_mention', which may lack the files: both have the same key.
    """
    event = at(body, "event")
    kind = text(event, "type")
    if kind == "reaction_added":
        return read_reaction(config, event, _bot_user(body, metadata))
    if kind not in ("message", "app_mention") or not isinstance(event, dict):
        return "event"
    bot = _bot_user(body, metadata)
    if text(event, "subtype") == "message_changed":
        return _edit(config, body, event, bot)
    if text(event, "subtype") == "message_deleted":
        return _deletion(event)
    reason = _ignored(event, bot)
    if reason and not (reason == BOT and _is_mention_by_bot(event, bot)):
        return reason
    written, direct = written_in(event), _is_direct(event)
    refused = reason or ("" if direct or config.allows(text(event, "channel")) else CHANNEL)
    if not bot or (kind == "app_mention" and not _mentions(written, bot)):
        bot = _addressee(body, written, direct)
    addressed = direct or kind == "app_mention" or bool(bot and _mentions(written, bot))
    if refused and not addressed:
        return refused
    if not addressed and config.require_mention and not (config.follow_threads and text(event, "thread_ts")):
        return "not-addressed"
    message = _event(config, body, event, without_mention(written, bot) if bot else written, bot)
    says_nothing = not written and not message.has_content and not (direct and _has_parts(event))
    if (direct or not addressed) and says_nothing:
        return "empty"
    return replace(message, only_followed=not addressed and config.require_mention, refused=refused)


def _is_mention_by_bot(event: Mapping[str, Any], bot: str) -> bool:
    """Another bot mentions this one. Where the own id is not known, the message may be the own one."""
    author, subtype = text(event, "user") or text(event, "bot_id"), text(event, "subtype")
    is_new = subtype in _BY_PEOPLE or subtype == "bot_message"
    is_other = bool(bot and author) and author != bot
    return is_new and is_other and bool(text(event, "channel")) and _mentions(written_in(event), bot)


def _event(
    config: SlackConfig, body: Mapping[str, Any], event: Mapping[str, Any], addressed: str, bot: str
) -> Event:
    channel, ts, thread = text(event, "channel"), text(event, "ts"), text(event, "thread_ts")
    user, direct = text(event, "user") or text(event, "bot_id"), _is_direct(event)
    in_thread = bool(thread and thread != ts)
    if config.reply_in_thread and not direct:
        thread = thread or ts
    of_agent = direct and in_thread and chat_of(event) is not None
    in_channel = thread and (of_agent or not direct)
    question, files, shared = plain(addressed), items(event, "files"), shared_message(event)
    attachments = tuple(filter(None, (attachment_of(file) for file in files)))
    # A message of nothing but files may be our own upload; what people write about our files is not.
    file_ids = [] if text(event, "text") else [text(file, "id") for file in files]
    return Event(
        key=f"{channel}:{ts}" if ts else text(body, "event_id") or None,
        session_id=session_of(channel, thread if in_channel else ""),
        sender=Sender(user, identities=(Identity("workspace-chat", user),)),
        text=question,
        target=TARGET.dump(SlackTarget(channel=channel, thread_ts=thread, bot=bot if in_thread else "")),
        attachments=attachments,
        canned_reply=None if question or attachments or shared else _notice(event),
        ids=tuple(filter(None, (ts, *file_ids))),
        ids_of_session=True,
        is_direct=direct,
        message_id=f"{channel}:{ts}",
        merge=None if attachments else _partial(config, event),
        quoted=shared or (_parent(channel, thread) if in_thread and not of_agent else None),
        thread_post=ts if in_thread and not direct else "",
        alias="" if of_agent or not (direct and in_thread) else session_of(channel, thread),
        context={**_told(body, event), **_forwarded(event)},
    )


def chat_of(event: Any) -> SessionAlias | None:
    """The chat of Slack's agent surface, a thread of direct messages that is a session of its own. Slack tells it
    when it is opened (https://docs.slack.dev/reference/events/assistant_thread_started) and by a token in its
    messages; an edit or a press in it tells the thread alone."""
    chat = at(event, "assistant_thread")
    if not isinstance(chat, dict):
        return None
    channel = text(chat, "channel_id") or text(event, "channel")
    thread = text(chat, "thread_ts") or text(event, "thread_ts")
    session_id = session_of(channel, thread)
    return SessionAlias(session_id, session_id) if channel.startswith("D") and thread else None


def _told(body: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, object]:
    """What an agent needs beside the text: the channel, and to whose workspace the sender belongs where the channel
    is shared with others."""
    is_shared = at(body, "is_ext_shared_channel") is True
    team = text(event, "user_team") or text(event, "team") if is_shared else ""
    group = {} if _is_direct(event) else {"id": text(event, "channel")}
    return {"group": group, "platform": {"team": team}}


def _notice(event: Mapping[str, Any]) -> str:
    return unreadable() if not text(event, "text") and _has_parts(event) else GREETING


def _has_parts(event: Mapping[str, Any]) -> bool:
    return any(items(event, part) for part in ("files", "attachments", "blocks"))


def _partial(config: SlackConfig, event: Mapping[str, Any]) -> Merge | None:
    """An app_mention may lack the files of its message, whose own event follows where the app reads channels."""
    reads_channels = config.follow_threads or not config.require_mention
    channel, ts = text(event, "channel"), text(event, "ts")
    is_mention = text(event, "type") == "app_mention"
    return Merge(f"{channel}:{ts}") if is_mention and reads_channels and ts else None


def session_of(channel: str, thread: str) -> str:
    """A thread is a conversation of its own, and so is a channel without its threads."""
    return f"{channel}:{thread}" if thread else channel


def _edit(config: SlackConfig, body: Mapping[str, Any], event: Mapping[str, Any], bot: str) -> Event | str:
    """The event of an edited message. One without a new text has got a preview of a link.

    Source: https://docs.slack.dev/reference/events/message/message_changed
    """
    message, channel = at(event, "message"), text(event, "channel")
    if not isinstance(message, dict) or _ignored({**message, "channel": channel}, bot):
        return "bot"
    if text(message, "text") == text(event, "previous_message", "text"):
        return "preview"
    written = without_mention(written_in(message), bot) if bot else written_in(message)
    place = {"channel": channel, "channel_type": text(event, "channel_type")}
    edited = _event(config, body, {**message, **place}, written, bot)
    return replace(edited, key=f"{edited.key}:{text(event, 'ts')}", change=Change.EDITED)


def _deletion(event: Mapping[str, Any]) -> Event | str:
    """The event of a deleted message, which may have been in any thread of the channel.

    Source: https://docs.slack.dev/reference/events/message/message_deleted
    """
    channel, ts = text(event, "channel"), text(event, "deleted_ts")
    if not channel or not ts:
        return "incomplete"
    message_id = f"{channel}:{ts}"
    key = f"{message_id}:{Change.DELETED}"
    return Event(key, "", Sender(""), "", {}, message_id=message_id, change=Change.DELETED)


def shared_message(event: Mapping[str, Any]) -> Quoted | None:
    """The messages that were shared with this one, or to which it links."""
    given = [_shared(part) for part in items(event, "attachments") if _is_message(part)]
    quoted = [message for message in given if message.is_given]
    if not quoted:
        return None
    files = tuple(file for message in quoted for file in message.attachments)
    return replace(
        quoted[0], text="\n\n".join(filter(None, (message.text for message in quoted))), attachments=files
    )


def _is_message(part: object) -> bool:
    return at(part, "is_share") is True or at(part, "is_msg_unfurl") is True


def _shared(part: object) -> Quoted:
    files = tuple(filter(None, (attachment_of(file) for file in items(part, "files"))))
    return Quoted(plain(_text_of_shared(part)), text(part, "author_name") or text(part, "author_id"), files)


def _forwarded(event: Mapping[str, Any]) -> dict[str, object]:
    """The `context` of a message that was shared with this one."""
    for shared in items(event, "attachments"):
        if at(shared, "is_share") is True:
            return forwarded(text(shared, "author_name") or text(shared, "author_id"), text(shared, "ts"))
    return {}


def written_in(message: Any) -> str:
    """The text of a message, or of the blocks of which it consists, in Slack's markup."""
    return text(message, "text") or card_text(at(message, "blocks"))


def _text_of_shared(shared: Any) -> str:
    """The text of a shared message; programs write blocks and attachments."""
    blocks = [at(message, "message", "blocks") for message in items(shared, "message_blocks")]
    written = text(shared, "text") or card_text(blocks) or card_text(at(shared, "blocks"))
    head = {name: text(shared, name) for name in ("pretext", "title", "title_link")}
    rest = {name: at(shared, name) for name in ("fields", "actions", "attachments")}
    return "\n".join(filter(None, (card_text(head), written, card_text(rest))))


def _parent(channel: str, thread: str) -> Quoted:
    """The first message of the thread, of which the event tells the id alone."""
    return Quoted(ref=thread, key=f"{channel}:{thread}", session=channel)


def posted(message: Any, bot: str) -> Quoted:
    """A message as the Web API gives it."""
    user = text(message, "user")
    bot_name = text(message, "username") or text(message, "bot_profile", "name")
    files = tuple(filter(None, (attachment_of(file) for file in items(message, "files"))))
    author = Author.RESOURCE if bot and user == bot else bot_name or user
    cards = card_text(at(message, "attachments")) if bot_name else ""
    return Quoted(plain("\n".join(filter(None, (written_in(message), cards)))), author, files)


def _ignored(event: Mapping[str, Any], bot: str) -> str:
    """Why the event is no message of a person to the bot, empty where it is one."""
    subtype, user = text(event, "subtype"), text(event, "user")
    if "bot_id" in event or "bot_profile" in event or subtype == "bot_message" or user == _SLACKBOT:
        return BOT
    if subtype not in _BY_PEOPLE or event.get("hidden") is True:
        return "subtype"
    if not user or not text(event, "channel"):
        return "incomplete"
    return "own" if bot and user == bot else ""


def _bot_user(body: Mapping[str, Any], metadata: ChannelMetadata) -> str:
    """The bot's own user id: from the metadata, else from the event itself."""
    bots = [entry for entry in items(body, "authorizations") if at(entry, "is_bot") is True]
    return text(metadata, "user_id") or next(filter(None, (text(bot, "user_id") for bot in bots)), "")


def _addressee(body: Mapping[str, Any], written: str, direct: bool) -> str:
    """Whom the text addresses, where the bot's own id is unknown or is another in this workspace."""
    users = [user for user in items(body, "authed_users") if isinstance(user, str)]
    mentioned = next((user for user in users if _mentions(written, user)), "")
    leading = _LEADING_MENTION.match(written)
    return mentioned or (leading[1] if leading and not direct else "")


def _is_direct(event: Mapping[str, Any]) -> bool:
    kind = text(event, "channel_type")
    return kind == "im" or (not kind and text(event, "channel").startswith("D"))


def attachment_of(file: Any) -> Attachment | None:
    """A shared file; files of other organizations come as an id alone (file_access: check_file_info)."""
    file_id, url = text(file, "id"), text(file, "url_private_download") or text(file, "url_private")
    if not (file_id or url) or text(file, "mode") in ("tombstone", "hidden_by_limit"):
        return None
    return Attachment(
        name=text(file, "name") or text(file, "title") or file_id or "file",
        mime_type=text(file, "mimetype") or "application/octet-stream",
        source={"id": file_id, "url": url},
        size=size(file, "size"),
        is_voice=text(file, "subtype") == "slack_audio",
    )


def _mentions(written: str, user: str) -> bool:
    return f"<@{user}>" in written or f"<@{user}|" in written


def without_mention(written: str, user: str) -> str:
    """The text without the mentions of a user."""
    if "<@" not in written:
        return written.strip()
    return re.sub(rf"<@{re.escape(user)}(?:\|[^<>]*)?>[,:]?\s*", "", written).strip()


def plain(written: str) -> str:
    """The text with links, names and escaped characters as people see them."""
    shown = _MARK.sub(lambda mark: _shown(mark[1]), written) if "<" in written else written
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def plain_command(written: str) -> str:
    """The text of a slash command as `plain`. Slack marks names and addresses there only where the command is set to
    escape them: other words in angle brackets were typed."""
    return plain(_TYPED.sub(r"&lt;\1&gt;", written))


def _shown(mark: str) -> str:
    target, _, label = mark.partition("|")
    if target.startswith(("@", "#")):
        return f"{target[0]}{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return f"{label} ({target})" if label and label != target else target


def read_reaction(config: SlackConfig, event: Mapping[str, Any], bot: str) -> Event | str:
    """The event of a person's reaction to a message of the bot."""
    channel, ts = text(event, "item", "channel"), text(event, "item", "ts")
    user, name = text(event, "user"), text(event, "reaction")
    if not config.reactions:
        return "reaction"
    if not (channel and ts and user and name and bot) or user == bot or text(event, "item_user") != bot:
        return "reaction"
    direct = channel.startswith("D")
    if not direct and not config.allows(channel):
        return "channel"
    return Event(
        key=f"{channel}:{ts}:{user}:{name}:{text(event, 'event_ts')}",
        session_id=channel,
        sender=Sender(user, identities=(Identity("workspace-chat", user),)),
        text="",
        target=TARGET.dump(SlackTarget(channel=channel)),
        reaction=emoji_named(name),
        is_direct=direct,
    )
