"""Reads the updates that Telegram posts (https://core.telegram.org/bots/api#update). Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, json_object, same, text
from domain.channels.messages import (
    ChannelMetadata,
    Config,
    Event,
    Identity,
    Merge,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import NotFound, Unauthenticated

from .content import attachments_of, described
from .wording import Bot, addressed

_HEADER = "x-telegram-bot-api-secret-token"
GREETING = "Hello! Send me a message, a question or a file, and I will answer here."
ALLOWED_UPDATES = ("message", "edited_message", "callback_query")


def bot_token(config: Config) -> str:
    return text(config, "botToken")


def secret_of(token: str) -> str:
    """The secret that Telegram repeats in each call: the SHA-256 of the bot token in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def receive(config: Config, call: RawCall, known: ChannelMetadata) -> Received:
    """Proves that a call comes from Telegram and reads its update."""
    if call.callback != "webhook":
        raise NotFound(f"There is no callback '{call.callback}' on this channel; use 'webhook'.")
    token = bot_token(config)
    if not token or not same(call.headers.get(_HEADER, ""), secret_of(token)):
        raise Unauthenticated(
            "The header X-Telegram-Bot-Api-Secret-Token is not the one that was registered."
        )
    update = json_object(call.body)
    bot = Bot(id=token.partition(":")[0], username=text(known, "username"))
    return _read(update, bot)


def _read(update: Mapping[str, Any], bot: Bot) -> Received:
    kind = next((name for name in ALLOWED_UPDATES if isinstance(update.get(name), dict)), None)
    if kind is None:
        return Received(kind="ignored:other")
    content = update[kind]
    key = _key(update, bot)
    if kind == "edited_message" and "location" in content:  # where somebody walks, told every few seconds
        return Received(kind="ignored:live-location")
    read = _pressed(content, key) if kind == "callback_query" else _message(content, key, bot)
    if isinstance(read, str):
        return Received(kind=f"ignored:{read}")
    return Received(events=(read,), kind=kind)


def _key(update: Mapping[str, Any], bot: Bot) -> str | None:
    """Update ids count per bot; an instance may change its bot."""
    update_id = text(update, "update_id")
    return f"{bot.id}:{update_id}" if update_id else None


def _message(message: Mapping[str, Any], key: str | None, bot: Bot) -> Event | str:
    """The event of a message, or a word that says why there is none."""
    chat, sender = text(message, "chat", "id"), _sender(message)
    if not chat or sender is None:
        return "incomplete"
    if at(message, "from", "is_bot") is True or message.get("is_automatic_forward") is True:
        return "bot"
    words = addressed(text(message, "text") or text(message, "caption"), bot)
    if words.for_other_bot:
        return "other-bot"
    attachments = attachments_of(message)
    said = words.text or ("" if words.command or attachments else described(message))
    if not (said or attachments or words.spoken_to):
        return "service"
    greeted = words.command in ("start", "help") or not (said or attachments)
    return Event(
        key=key,
        session_id=_session(chat, message),
        sender=sender,
        text=said,
        target=_target(message),
        attachments=attachments,
        canned_reply=GREETING if greeted else None,
        is_direct=at(message, "chat", "type") == "private",
        merge=_album(message),
    )


def _album(message: Mapping[str, Any]) -> Merge | None:
    """Each picture of an album comes in an update of its own."""
    album, place = text(message, "media_group_id"), at(message, "message_id")
    return Merge(album, place if isinstance(place, int) else None) if album else None


def _pressed(query: Mapping[str, Any], key: str | None) -> Event | str:
    """The event of a pressed inline button, or a word that says why there is none."""
    message, sender, value = query.get("message"), _sender(query), text(query, "data")
    chat = text(message, "chat", "id")
    if not chat or sender is None or not isinstance(message, dict):
        return "inline"
    if not value:
        return "no-data"
    target = _target(message) | {
        "callback_query_id": text(query, "id"),
        "prompt_id": message.get("message_id"),
    }
    target.pop("reply_to", None)
    return Event(
        key=key,
        session_id=_session(chat, message),
        sender=sender,
        text=value,
        target=target,
        choice=value,
        is_direct=at(message, "chat", "type") == "private",
    )


def _sender(source: Mapping[str, Any]) -> Sender | None:
    user = text(source, "from", "id")
    if not user:
        return None
    names = (text(source, "from", "first_name"), text(source, "from", "last_name"))
    return Sender(
        external_id=user,
        display_name=" ".join(filter(None, names)) or text(source, "from", "username"),
        identities=(Identity("bot-messenger", user),),
    )


def _session(chat: str, message: Mapping[str, Any]) -> str:
    """The chat, and the thread in it. In a group without topics each reply bears the id of the message that its
    chain began with as a thread: it goes on with what is said in the group, and so does an answer to a prompt."""
    is_reply = message.get("is_topic_message") is not True and "reply_to_message" in message
    thread = "" if is_reply else text(message, "message_thread_id")
    return f"{chat}:{thread}" if thread else chat


def _target(message: Mapping[str, Any]) -> dict[str, Any]:
    """Where the answer goes. A message thread that is no forum topic cannot be named when sending."""
    target: dict[str, Any] = {"chat_id": at(message, "chat", "id")}
    if message.get("is_topic_message") is True and "message_thread_id" in message:
        target["message_thread_id"] = message["message_thread_id"]
    if at(message, "chat", "type") != "private" and "message_id" in message:
        target["reply_to"] = message["message_id"]
    return target
