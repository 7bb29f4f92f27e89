"""Message events of Slack's Events API and Slack's markup in them. Pure.

Sources: https://docs.slack.dev/reference/events/message and
https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, first_text, items, size, text
from adapters.outbound.channels.common.contents import card_text, deletion, emoji_named, forwarded, unreadable
from domain.channels import messages
from domain.channels.answers import Author
from domain.channels.refused import BOT, CHANNEL

from .config import TARGET, SlackConfig, SlackTarget

GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."

_BY_PEOPLE = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of new messages of people; the others are edits, deletions, joins, messages of bots."""
_SLACKBOT = "USLACKBOT"
"""Slack's own bot, which posts reminders and answers without a bot_id."""

_MARK = re.compile(r"<([^<>\s][^<>]*)>")
_TYPED = re.compile(r"<(?![@#!][^<>]|https?://|mailto:)([^<>]*)>")
_LEADING_MENTION = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>")


class _Ignored(Exception):
    """The event is not for the bot. The message is the reason."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The session of a message, the thread of its answer, and the thread's first message if this is another one."""

    session_id: str
    thread: str
    alias: str = ""
    thread_post: str = ""
    parent: messages.Quoted | None = None


def read_event(
    config: SlackConfig, body: Mapping[str, Any], metadata: messages.ChannelMetadata
) -> messages.Event | str:
    """The event of a mention, a message to the bot or one in a thread, or the reason why it is ignored.

    A mention arrives both as 'message' and as 'app_mention', which may lack the files: both have the same key.
    """
    event, authorizations = at(body, "event"), items(body, "authorizations")
    bots = (text(entry, "user_id") for entry in authorizations if at(entry, "is_bot") is True)
    own = text(metadata, "user_id") or next(filter(None, bots), "")
    kind, subtype = text(event, "type"), text(event, "subtype")
    if kind == "reaction_added":
        return _reaction(config, event, own)
    if kind not in ("message", "app_mention"):
        return "event"
    if subtype == "message_changed":
        return _edit(config, body, event, own)
    if subtype == "message_deleted":  # in any thread of the channel
        channel, ts = text(event, "channel"), text(event, "deleted_ts")
        return deletion(f"{channel}:{ts}") if channel and ts else "incomplete"
    try:
        return _message(config, body, event, own)
    except _Ignored as ignored:
        return str(ignored)


def _message(
    config: SlackConfig, body: Mapping[str, Any], event: Mapping[str, Any], own: str
) -> messages.Event:
    """The event of a new message. Raises `_Ignored`."""
    written, direct = written_in(event), _is_direct(event)
    bot = _addressee(body, event, own)
    addressed = direct or text(event, "type") == "app_mention" or _mentions(written, bot)
    refused = _refusal(config, event, own, addressed)
    only_followed = not addressed and config.require_mention
    if only_followed and not (config.follow_threads and text(event, "thread_ts")):
        raise _Ignored("not-addressed")
    message = _event(config, body, event, without_mention(written, bot), bot)
    has_content = any((written, message.has_content, direct and _has_parts(event)))
    if not has_content and (direct or not addressed):
        raise _Ignored("empty")
    return replace(message, only_followed=only_followed, refused=refused)


def _refusal(config: SlackConfig, event: Mapping[str, Any], own: str, addressed: bool) -> str:
    """Why a message to the bot is not answered but listed, empty for one that is answered. Raises `_Ignored`."""
    reason = _not_by_person(event, own)
    if reason and not (reason == BOT and _is_mention_by_bot(event, own)):
        raise _Ignored(reason)
    if not reason and not _is_direct(event) and not config.allows(text(event, "channel")):
        reason = CHANNEL
    if reason and not addressed:
        raise _Ignored(reason)
    return reason


def _not_by_person(event: Mapping[str, Any], own: str) -> str:
    """Why the event is not a new message of a person, empty if it is."""
    subtype, user = text(event, "subtype"), text(event, "user")
    if "bot_id" in event or "bot_profile" in event or subtype == "bot_message" or user == _SLACKBOT:
        return BOT
    if subtype not in _BY_PEOPLE or event.get("hidden") is True:
        return "subtype"
    if not user or not text(event, "channel"):
        return "incomplete"
    return "own" if own and user == own else ""


def _is_mention_by_bot(event: Mapping[str, Any], own: str) -> bool:
    """Return True if another bot mentions this one. If the own id is unknown, the message may be the own one."""
    author, subtype = _author(event), text(event, "subtype")
    is_new = subtype in _BY_PEOPLE or subtype == "bot_message"
    is_other = bool(own and author) and author != own
    return is_new and is_other and bool(text(event, "channel")) and _mentions(written_in(event), own)


def _author(event: Mapping[str, Any]) -> str:
    return first_text(event, "user", "bot_id")


def _addressee(body: Mapping[str, Any], event: Mapping[str, Any], own: str) -> str:
    """The user id by which the text mentions the bot, if its own id is unknown or differs in this workspace."""
    written = written_in(event)
    if own and (text(event, "type") != "app_mention" or _mentions(written, own)):
        return own
    users = [user for user in items(body, "authed_users") if isinstance(user, str)]
    mentioned = next((user for user in users if _mentions(written, user)), "")
    leading = _LEADING_MENTION.match(written)
    return mentioned or (leading[1] if leading and not _is_direct(event) else "")


def _event(
    config: SlackConfig, body: Mapping[str, Any], event: Mapping[str, Any], addressed: str, bot: str
) -> messages.Event:
    channel, ts = text(event, "channel"), text(event, "ts")
    user = _author(event)
    place, question, shared = _place(config, event), plain(addressed), shared_message(event)
    attachments = files_of(event)
    # A message of nothing but files may be our own upload; what people write about our files is not.
    file_ids = [] if text(event, "text") else [text(file, "id") for file in items(event, "files")]
    target = SlackTarget(channel=channel, thread_ts=place.thread, bot=bot if _in_thread(event) else "")
    return messages.Event(
        key=f"{channel}:{ts}" if ts else text(body, "event_id") or None,
        session_id=place.session_id,
        sender=sender_of(user),
        text=question,
        target=TARGET.dump(target),
        attachments=attachments,
        canned_reply=None if question or attachments or shared else _notice(event),
        ids=tuple(filter(None, (ts, *file_ids))),
        ids_of_session=True,
        is_direct=_is_direct(event),
        message_id=f"{channel}:{ts}",
        merge=None if attachments else _merge(config, event),
        quoted=shared or place.parent,
        thread_post=place.thread_post,
        alias=place.alias,
        context=_context(body, event),
    )


def _place(config: SlackConfig, event: Mapping[str, Any]) -> _Place:
    channel, ts, thread = text(event, "channel"), text(event, "ts"), text(event, "thread_ts")
    session_id, in_thread = session_of(channel, thread), _in_thread(event)
    # The event tells nothing but the id of the thread's first message.
    parent = messages.Quoted(ref=thread, key=session_id, session=channel) if in_thread else None
    if not _is_direct(event):
        answered_in = thread or (ts if config.reply_in_thread else "")
        post = ts if in_thread else ""
        return _Place(session_of(channel, answered_in), answered_in, thread_post=post, parent=parent)
    if in_thread and chat_of(event) is not None:
        return _Place(session_id, thread)
    return _Place(channel, thread, alias=session_id if in_thread else "", parent=parent)


def _in_thread(event: Mapping[str, Any]) -> bool:
    """Return True for any message of a thread but the first."""
    return text(event, "thread_ts") not in ("", text(event, "ts"))


def chat_of(event: Any) -> messages.SessionAlias | None:
    """The chat of Slack's agent surface, a thread of direct messages that is a session of its own. Slack names it
    when it is opened (https://docs.slack.dev/reference/events/assistant_thread_started) and by a token in its
    messages; an edit or a press in it names the thread alone."""
    chat = at(event, "assistant_thread")
    if not isinstance(chat, dict):
        return None
    channel = text(chat, "channel_id") or text(event, "channel")
    thread = text(chat, "thread_ts") or text(event, "thread_ts")
    session_id = session_of(channel, thread)
    return messages.SessionAlias(session_id, session_id) if channel.startswith("D") and thread else None


def _context(body: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, object]:
    """The channel, the sender's workspace if the channel is shared with others, and the author of a message that was
    shared with this one."""
    is_shared = at(body, "is_ext_shared_channel") is True
    team = text(event, "user_team") or text(event, "team") if is_shared else ""
    group = {} if _is_direct(event) else {"id": text(event, "channel")}
    context: dict[str, object] = {"group": group, "platform": {"team": team}}
    for shared in items(event, "attachments"):
        if at(shared, "is_share") is True:
            author = first_text(shared, "author_name", "author_id")
            return context | forwarded(author, text(shared, "ts"))
    return context


def _notice(event: Mapping[str, Any]) -> str:
    return unreadable() if not text(event, "text") and _has_parts(event) else GREETING


def _has_parts(event: Mapping[str, Any]) -> bool:
    return any(items(event, part) for part in ("files", "attachments", "blocks"))


def _merge(config: SlackConfig, event: Mapping[str, Any]) -> messages.Merge | None:
    """An app_mention may lack the files of its message, whose own event follows if the app reads channels."""
    reads_channels = config.follow_threads or not config.require_mention
    channel, ts = text(event, "channel"), text(event, "ts")
    is_mention = text(event, "type") == "app_mention"
    return messages.Merge(f"{channel}:{ts}") if is_mention and reads_channels and ts else None


def sender_of(user: str, name: str = "") -> messages.Sender:
    return messages.Sender(user, name, (messages.Identity("workspace-chat", user),))


def session_of(channel: str, thread: str) -> str:
    """A thread is a conversation of its own, and so is a channel without its threads."""
    return f"{channel}:{thread}" if thread else channel


def _edit(
    config: SlackConfig, body: Mapping[str, Any], event: Mapping[str, Any], own: str
) -> messages.Event | str:
    """The event of an edited message. One without a new text has got a preview of a link.

    Source: https://docs.slack.dev/reference/events/message/message_changed
    """
    message, channel = at(event, "message"), text(event, "channel")
    if not isinstance(message, dict) or _not_by_person({**message, "channel": channel}, own):
        return "bot"
    if text(message, "text") == text(event, "previous_message", "text"):
        return "preview"
    placed = {**message, "channel": channel, "channel_type": text(event, "channel_type")}
    edited = _event(config, body, placed, without_mention(written_in(message), own), own)
    return replace(edited, key=f"{edited.key}:{text(event, 'ts')}", change=messages.Change.EDITED)


def _reaction(config: SlackConfig, event: Mapping[str, Any], own: str) -> messages.Event | str:
    """The event of a person's reaction to a message of the bot."""
    channel, ts = text(event, "item", "channel"), text(event, "item", "ts")
    user, name = text(event, "user"), text(event, "reaction")
    is_complete = channel and ts and user and name and own
    if not (config.reactions and is_complete) or user == own or text(event, "item_user") != own:
        return "reaction"
    direct = channel.startswith("D")
    if not direct and not config.allows(channel):
        return "channel"
    return messages.Event(
        key=f"{channel}:{ts}:{user}:{name}:{text(event, 'event_ts')}",
        session_id=channel,
        sender=sender_of(user),
        text="",
        target=TARGET.dump(SlackTarget(channel=channel)),
        reaction=emoji_named(name),
        reacted_ref=ts,
        is_direct=direct,
        context={"group": {} if direct else {"id": channel}},
    )


def shared_message(event: Mapping[str, Any]) -> messages.Quoted | None:
    """The messages that were shared with this one, or to which it links."""
    parts = items(event, "attachments")
    shared = [part for part in parts if at(part, "is_share") is True or at(part, "is_msg_unfurl") is True]
    quoted = [message for message in map(_shared, shared) if message.is_given]
    if not quoted:
        return None
    files = tuple(file for message in quoted for file in message.attachments)
    written = "\n\n".join(filter(None, (message.text for message in quoted)))
    return replace(quoted[0], text=written, attachments=files)


def _shared(shared: Any) -> messages.Quoted:
    """A shared message; programs write blocks and attachments."""
    blocks = [at(message, "message", "blocks") for message in items(shared, "message_blocks")]
    written = text(shared, "text") or card_text(blocks) or card_text(at(shared, "blocks"))
    head = {name: text(shared, name) for name in ("pretext", "title", "title_link")}
    rest = {name: at(shared, name) for name in ("fields", "actions", "attachments")}
    shown = "\n".join(filter(None, (card_text(head), written, card_text(rest))))
    return messages.Quoted(plain(shown), first_text(shared, "author_name", "author_id"), files_of(shared))


def written_in(message: Any) -> str:
    """The text of a message, or of the blocks of which it consists, in Slack's markup."""
    return text(message, "text") or card_text(at(message, "blocks"))


def posted(message: Any, bot: str) -> messages.Quoted:
    """A message as the Web API gives it."""
    user = text(message, "user")
    bot_name = text(message, "username") or text(message, "bot_profile", "name")
    author = Author.RESOURCE if bot and user == bot else bot_name or user
    cards = card_text(at(message, "attachments")) if bot_name else ""
    written = "\n".join(filter(None, (written_in(message), cards)))
    return messages.Quoted(plain(written), author, files_of(message))


def files_of(message: Any) -> tuple[messages.Attachment, ...]:
    return tuple(filter(None, map(attachment_of, items(message, "files"))))


def attachment_of(file: Any) -> messages.Attachment | None:
    """A shared file; files of other organizations come as an id alone (file_access: check_file_info)."""
    file_id, url = text(file, "id"), first_text(file, "url_private_download", "url_private")
    if not (file_id or url) or text(file, "mode") in ("tombstone", "hidden_by_limit"):
        return None
    return messages.Attachment(
        name=first_text(file, "name", "title", "id") or "file",
        mime_type=text(file, "mimetype") or "application/octet-stream",
        source={"id": file_id, "url": url},
        size=size(file, "size"),
        is_voice=text(file, "subtype") == "slack_audio",
    )


def _is_direct(event: Mapping[str, Any]) -> bool:
    kind = text(event, "channel_type")
    return kind == "im" or (not kind and text(event, "channel").startswith("D"))


def _mentions(written: str, user: str) -> bool:
    return bool(user) and (f"<@{user}>" in written or f"<@{user}|" in written)


def without_mention(written: str, user: str) -> str:
    if not user or "<@" not in written:
        return written.strip()
    return re.sub(rf"<@{re.escape(user)}(?:\|[^<>]*)?>[,:]?\s*", "", written).strip()


def plain(written: str) -> str:
    """The text with links, names and escaped characters as people see them."""
    shown = _MARK.sub(lambda mark: _shown(mark[1]), written) if "<" in written else written
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def plain_command(written: str) -> str:
    """The text of a slash command as `plain`. Slack marks names and addresses there only if the command is set to
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
