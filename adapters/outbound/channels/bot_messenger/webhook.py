"""Reads the updates that Telegram posts (https://core.telegram.org/bots/api#update). Pure."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from adapters.outbound.channels.common import calls, contents
from adapters.outbound.channels.common.bodies import at, integer, json_object, same, text
from adapters.outbound.channels.common.messages import is_own, pressed_text
from domain.channels.messages import (
    Change,
    ChannelMetadata,
    Event,
    Identity,
    Merge,
    RawCall,
    Received,
    Sender,
    SessionRename,
)
from domain.channels.refused import BOT, CHANNEL
from domain.refusals import Unauthenticated

from . import messages
from .config import GENERAL, TARGET, BotConfig, BotTarget

_HEADER = "x-telegram-bot-api-secret-token"
START = "start"
_DEEP_LINK = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a link to the bot hands on behind /start (https://core.telegram.org/bots/features#deep-linking)."""
GREETING = "Hello! Send me a message, a question or a file, and I will answer here."
ALLOWED_UPDATES = ("message", "edited_message", "callback_query")


@lru_cache
def secret_of(token: str) -> str:
    """The secret that Telegram repeats in each call: the SHA-256 of the bot token in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def receive(config: BotConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    calls.require_webhook(call)
    token = config.bot_token
    if not token or not same(call.headers.get(_HEADER, ""), secret_of(token)):
        raise Unauthenticated(
            "The header X-Telegram-Bot-Api-Secret-Token is not the one that was registered."
        )
    bot = messages.Bot(token.partition(":")[0], text(metadata, "username"))
    return read_update(config, json_object(call.body), bot)


def read_update(config: BotConfig, update: Mapping[str, Any], bot: messages.Bot) -> Received:
    kind = next((name for name in ALLOWED_UPDATES if isinstance(update.get(name), dict)), None)
    if kind is None:
        return Received(kind="ignored:other")
    content = update[kind]
    if renames := _renames(content):
        return Received(session_renames=renames, kind="rename")
    if kind == "edited_message":
        if "location" in content:  # of a person on the way, sent every few seconds
            return Received(kind="ignored:live-location")
        if messages.unreadable_kind(content):  # such as each tick of a checklist
            return Received(kind="ignored:unreadable")
    reason = _ignored(config, content, bot)
    if reason and not (reason == CHANNEL and kind == "message" and _addresses(content, bot)):
        return Received(kind=f"ignored:{reason}")
    return _received(update, kind, bot, reason)


def _received(update: Mapping[str, Any], kind: str, bot: messages.Bot, reason: str) -> Received:
    """The event of a message or a press. `reason`: why it is refused, empty if it is not."""
    content, update_id = update[kind], text(update, "update_id")
    key = f"{bot.id}:{update_id}" if update_id else None  # ids count per bot; an instance may change its bot
    event = _pressed(content, key) if kind == "callback_query" else _message(content, key, bot)
    if isinstance(event, str):
        return calls.received(event)
    refused = event.refused or reason
    if refused and kind != "message":
        return calls.received(refused)
    # A group may become a supergroup.
    alias = event.session_id if text(content.get("message", content), "chat", "type") == "group" else ""
    context = {**_context(content, bot), **event.context}
    event = replace(event, context=context, alias=alias, refused=refused)
    if kind == "edited_message" and event.merge is None:
        event = replace(event, change=Change.EDITED, new_if_answered=True)
    return calls.received(event, kind)


def _context(content: Mapping[str, Any], bot: messages.Bot) -> dict[str, object]:
    """The person's language and name, the group, the topic, and the command of a message or a press."""
    message, person = content.get("message", content), at(content, "from")
    button = at(content, "web_app_data")
    chat = at(message, "chat")
    in_group = text(chat, "type") != "private"
    written = messages.addressed(text(content, "text") or text(content, "caption"), bot)
    is_start = written.command == START and _DEEP_LINK.fullmatch(written.text)
    topic = text(message, "message_thread_id") if at(message, "is_topic_message") is True else ""
    return {
        "language": text(person, "language_code"),
        "group": {"id": text(chat, "id"), "name": text(chat, "title")} if in_group else {},
        "command": written.command,
        "payload": written.text if is_start else text(button, "data"),
        "platform": {
            "username": text(person, "username"),
            "topicId": topic,
            "buttonText": text(button, "button_text"),
            "viaBot": text(content, "via_bot", "username"),
            "contactUserId": text(content, "contact", "user_id"),
        },
    }


def _renames(message: Mapping[str, Any]) -> tuple[SessionRename, ...]:
    """A group that became a supergroup has another id: a message in each of both tells so
    (https://core.telegram.org/bots/api#message, migrate_to_chat_id)."""
    chat = text(message, "chat", "id")
    previous = text(message, "migrate_from_chat_id") or chat
    current = text(message, "migrate_to_chat_id") or chat
    return (SessionRename(previous, current, of_place=True),) if previous and previous != current else ()


def _ignored(config: BotConfig, content: Mapping[str, Any], bot: messages.Bot) -> str:
    """Why a message or a press of a group is not for the bot, empty if it is."""
    message = content.get("message", content)
    chat = at(message, "chat")
    if text(chat, "type") == "private":
        return ""
    if not config.allows(text(chat, "id"), f"@{text(chat, 'username')}"):
        return CHANNEL
    if not config.require_mention or "data" in content:
        return ""
    return "" if _addresses(message, bot) else "not-addressed"


def _addresses(message: Any, bot: messages.Bot) -> bool:
    """A message of a group mentions the bot, is a command, or replies to it."""
    is_reply = text(message, "reply_to_message", "from", "id") == bot.id
    return is_reply or messages.addressed(messages.written_in(message), bot).addresses_bot


def _message(message: Mapping[str, Any], key: str | None, bot: messages.Bot) -> Event | str:
    """The event of a message, or the reason why it is ignored."""
    sender = _sender(message)
    if not text(message, "chat", "id") or sender is None:
        return "incomplete"
    is_bot = at(message, "from", "is_bot") is True and "sender_chat" not in message
    is_own = sender.external_id == bot.id
    if message.get("is_automatic_forward") is True or (is_bot and (is_own or not _addresses(message, bot))):
        return BOT
    written = messages.addressed(messages.written_in(message), bot)
    if written.for_other_bot:
        return "other-bot"
    return _event(message, key, bot, sender, written, refused=BOT if is_bot else "")


def _event(
    message: Mapping[str, Any],
    key: str | None,
    bot: messages.Bot,
    sender: Sender,
    written: messages.AddressedText,
    *,
    refused: str,
) -> Event | str:
    attachments, quoted = messages.attachments_of(message), messages.quoted_in(message, bot)
    body = written.text or ("" if written.command or attachments else messages.described(message))
    direct = at(message, "chat", "type") == "private"
    to_bot = direct or text(message, "reply_to_message", "from", "id") == bot.id
    says_something = any((body, attachments, written.addresses_bot))
    kind = "" if says_something else messages.unreadable_kind(message)
    if not says_something and not (kind and to_bot):
        return "service"
    has_content = any((body, attachments, quoted))
    album = text(message, "media_group_id")  # each picture of it comes in an update of its own
    return Event(
        key=key,
        session_id=_session(message),
        sender=sender,
        text=body,
        target=TARGET.dump(_target(message)),
        attachments=attachments,
        canned_reply=_canned_reply(kind, written, body, has_content=has_content),
        is_direct=direct,
        merge=Merge(album, integer(message, "message_id")) if album else None,
        message_id=text(message, "message_id"),
        quoted=quoted,
        refused=refused,
        context={**messages.context_of(message), **messages.forwarded_in(message)},
    )


def _canned_reply(kind: str, written: messages.AddressedText, body: str, *, has_content: bool) -> str | None:
    """The reply to an unreadable kind of message, to /help, to a bare /start and to a message without content."""
    if kind:
        return contents.unreadable(kind)
    is_greeting = written.command == "help" or (written.command == START and not body)
    return GREETING if is_greeting or not has_content else None


def _pressed(query: Mapping[str, Any], key: str | None) -> Event | str:
    """The event of a pressed inline button, or the reason why it is ignored."""
    message, sender, value = query.get("message"), _sender(query), text(query, "data")
    if sender is None or not isinstance(message, dict) or not text(message, "chat", "id"):
        return "inline"
    if not value:
        return "no-data"
    buttons = [button for button in messages.buttons_of(message) if text(button, "callback_data") == value]
    # Telegram takes any value from a client (https://core.telegram.org/bots/api#callbackquery). A message whose
    # buttons are not known any more has no date.
    is_invented = bool(message.get("date")) and not buttons
    target = replace(
        _target(message),
        reply_to=None,
        callback_query_id=text(query, "id"),
        prompt_id=integer(message, "message_id"),
    )
    return Event(
        key=key,
        session_id=_session(message),
        sender=sender,
        text=pressed_text(text(buttons[0], "text") if buttons else "", value),
        target=TARGET.dump(target),
        choice=value,
        claims_choice=not is_own(value) and is_invented,
        is_direct=at(message, "chat", "type") == "private",
    )


def _sender(source: Mapping[str, Any]) -> Sender | None:
    """Who wrote. An anonymous admin or a person who writes as a channel is known as that chat, which
    proves no identity (https://core.telegram.org/bots/api#message, `sender_chat`)."""
    if isinstance(chat := at(source, "sender_chat"), dict):
        return Sender(text(chat, "id"), text(chat, "title") or text(chat, "username"))
    user = text(source, "from", "id")
    if not user:
        return None
    return Sender(user, messages.name_of(at(source, "from")), (Identity("bot-messenger", user),))


def _session(message: Mapping[str, Any]) -> str:
    """The chat, and the thread in it. In a group without topics a reply has the first message of its chain as a
    thread: it belongs to the conversation of the group, and so does an answer to a prompt."""
    is_reply = message.get("is_topic_message") is not True and "reply_to_message" in message
    thread = "" if is_reply else text(message, "message_thread_id")
    return session_of(text(message, "chat", "id"), "" if thread == str(GENERAL) else thread)


def session_of(chat: str, thread: str) -> str:
    return f"{chat}:{thread}" if thread else chat


def _target(message: Mapping[str, Any]) -> BotTarget:
    """Where the answer goes. A message thread that is no forum topic cannot be named when sending."""
    is_topic = message.get("is_topic_message") is True
    is_private = at(message, "chat", "type") == "private"
    return BotTarget(
        chat_id=at(message, "chat", "id"),
        message_thread_id=integer(message, "message_thread_id") if is_topic else None,
        reply_to=None if is_private else integer(message, "message_id"),
    )
