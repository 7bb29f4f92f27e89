"""Messages as Discord's gateway sends them (https://docs.discord.com/developers/resources/message). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment, Event

from .people import sender_of, session_of

GREETING = "Hello! Write your question behind my name, or send me a direct message."
_WRITTEN = (None, 0, 19)
"""Types of messages that a person wrote: ordinary ones and replies."""
_MENTION = re.compile(r"<@!?(\d+)>")
_ADDRESSED = re.compile(rf"{_MENTION.pattern}(?P<after>[,:]?[ \t]*)")
_ROLE = re.compile(r"<@&\d+>[,:]?[ \t]*")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


def read_message(message: Any, bot_ids: Collection[str]) -> Event | str:
    """The event of a mention or a direct message, or a word that says why there is none."""
    channel = text(message, "channel_id")
    sender = sender_of(at(message, "author"), at(message, "member"))
    if sender is None or not channel or not isinstance(message, dict):
        return "incomplete"
    if at(message, "author", "bot") is True or text(message, "webhook_id") or sender.external_id in bot_ids:
        return "bot"
    if at(message, "type") not in _WRITTEN:
        return "system"
    direct = not text(message, "guild_id")
    if not direct and not _mentions(message, bot_ids):
        return "not-addressed"
    said = _plain(message, bot_ids)
    attachments = tuple(filter(None, (attachment_of(each) for each in items(message, "attachments"))))
    message_id = text(message, "id")
    target = {"channel_id": channel}
    return Event(
        key=message_id or None,
        session_id=session_of(channel, sender),
        sender=sender,
        text=said,
        target=target if direct or not message_id else target | {"reply_to": message_id},
        attachments=attachments,
        canned_reply=None if said or attachments else GREETING,
        ids=(message_id,) if message_id else (),
        is_direct=direct,
    )


def _mentions(message: Mapping[str, Any], bot_ids: Collection[str]) -> bool:
    named = {text(each, "id") for each in items(message, "mentions")}
    named |= set(_MENTION.findall(text(message, "content")))
    return any(each in named for each in bot_ids if each)


def _plain(message: Mapping[str, Any], bot_ids: Collection[str]) -> str:
    """The text without the bot's mention; other people by name."""
    names = {text(each, "id"): text(each, "username") for each in items(message, "mentions")}
    return plain(text(message, "content"), names, bot_ids)


def plain(words: str, names: Mapping[str, str], bot_ids: Collection[str]) -> str:
    """Words without the tags of mentions: the bot's go, other people stand by name.

    What else was typed stays, the indentation of code too.
    """

    def named(found: re.Match[str]) -> str:
        name = "" if found[1] in bot_ids else names.get(found[1], "")
        return f"@{name}{found['after']}" if name else ""

    return _EMOJI.sub(r"\1", _ROLE.sub("", _ADDRESSED.sub(named, words))).strip()


def attachment_of(file: Any) -> Attachment | None:
    """A file; its address on Discord's CDN is signed and needs no token."""
    address = text(file, "url")
    if not address:
        return None
    size = at(file, "size")
    return Attachment(
        name=text(file, "filename") or "file",
        mime_type=text(file, "content_type").partition(";")[0] or "application/octet-stream",
        source={"url": address},
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )
