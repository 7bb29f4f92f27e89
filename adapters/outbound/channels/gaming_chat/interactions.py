"""Interactions: slash commands and message components. Pure.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Attachment, Config, Event, Sender

from .messages import attachment_of, plain
from .people import sender_of, session_of

PING = "ping"
GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."

UNREADABLE = "This command could not be read. Please try again."

_PONG, _MESSAGE, _DEFERRED_MESSAGE, _DEFERRED_UPDATE, _NO_SUGGESTIONS = 1, 4, 5, 6, 8
_EPHEMERAL = 1 << 6
_NESTED = (1, 2)
"""Types of options that are subcommands and groups of them."""
_ATTACHMENT = 11


@dataclass(frozen=True, slots=True)
class Interaction:
    """What an interaction says, and the type of the answer that Discord expects within three seconds."""

    kind: str
    answer_type: int
    event: Event | None = None

    @property
    def answer(self) -> dict[str, Any]:
        """The body of that answer."""
        if self.answer_type == _NO_SUGGESTIONS:
            return {"type": self.answer_type, "data": {"choices": []}}
        if self.answer_type == _MESSAGE:
            return {"type": self.answer_type, "data": {"content": UNREADABLE, "flags": _EPHEMERAL}}
        return {"type": self.answer_type}


def read_interaction(config: Config, body: Mapping[str, Any], now: datetime) -> Interaction:
    """Reads an interaction of any type; those that no command or component of ours makes are ignored."""
    kind = at(body, "type")
    if kind == 1:
        return Interaction(PING, _PONG)
    if kind == 2:
        event = _command(config, body, now)
        if event is None:  # nothing would ever take the place of 'is thinking'
            return Interaction("ignored:incomplete", _MESSAGE)
        return Interaction("command", _DEFERRED_MESSAGE, event)
    if kind == 3:
        event = _component(config, body, now)
        return Interaction("component" if event else "ignored:no-value", _DEFERRED_UPDATE, event)
    if kind == 4:
        return Interaction("ignored:autocomplete", _NO_SUGGESTIONS)
    return Interaction("ignored:other", _DEFERRED_UPDATE)


def _command(config: Config, body: Mapping[str, Any], now: datetime) -> Event | None:
    sender, channel = _sender(body), _channel(body)
    if sender is None or not channel:
        return None
    options = list(_options(items(body, "data", "options")))
    words = [_word(body, option) for option in options if at(option, "type") != _ATTACHMENT]
    said = _plain(config, body, " ".join(filter(None, words)) or _chosen_message(body))
    attachments = tuple(filter(None, (_attached(body, option) for option in options)))
    return _event(
        body,
        sender,
        channel,
        text_=said,
        attachments=attachments,
        canned_reply=None if said or attachments else GREETING,
        target=_target(config, body, channel, now) | {"deferred": True},
    )


def _component(config: Config, body: Mapping[str, Any], now: datetime) -> Event | None:
    sender, channel = _sender(body), _channel(body)
    values = [each for each in items(body, "data", "values") if isinstance(each, str)]
    value = ", ".join(values) or text(body, "data", "custom_id")
    if sender is None or not channel or not value:
        return None
    return _event(
        body,
        sender,
        channel,
        text_=value,
        choice=value,
        target=_target(config, body, channel, now) | {"prompt_id": text(body, "message", "id")},
    )


def _event(
    body: Mapping[str, Any],
    sender: Sender,
    channel: str,
    *,
    text_: str,
    target: Mapping[str, Any],
    attachments: tuple[Attachment, ...] = (),
    choice: str | None = None,
    canned_reply: str | None = None,
) -> Event:
    return Event(
        key=text(body, "id") or None,
        session_id=session_of(channel, sender),
        sender=sender,
        text=text_,
        target=target,
        attachments=attachments,
        choice=choice,
        canned_reply=canned_reply,
        is_direct=not text(body, "guild_id"),
    )


def _target(config: Config, body: Mapping[str, Any], channel: str, now: datetime) -> dict[str, Any]:
    """The token answers for 15 minutes; after that the channel is what is left."""
    target: dict[str, Any] = {
        "channel_id": channel,
        "application_id": text(config, "applicationId") or text(body, "application_id"),
        "token": text(body, "token"),
        "since": now.timestamp(),
    }
    limit = at(body, "attachment_size_limit")
    return target | ({"max_file": limit} if isinstance(limit, int) and limit > 0 else {})


def _sender(body: Mapping[str, Any]) -> Sender | None:
    """In a server the user stands inside the member."""
    return sender_of(at(body, "member", "user") or at(body, "user"), at(body, "member"))


def _channel(body: Mapping[str, Any]) -> str:
    return text(body, "channel_id") or text(body, "channel", "id")


def _options(options: list[Any]) -> Iterator[Mapping[str, Any]]:
    """The options with values, those of subcommands included."""
    for option in options:
        if not isinstance(option, dict):
            continue
        if at(option, "type") in _NESTED:
            yield from _options(items(option, "options"))
        else:
            yield option


def _word(body: Mapping[str, Any], option: Mapping[str, Any]) -> str:
    """An option's value; people, roles and channels by name."""
    value = at(option, "value")
    if isinstance(value, bool):
        return str(value).lower()
    words = text(option, "value")
    for kind, sign, name in (("users", "@", "username"), ("roles", "@", "name"), ("channels", "#", "name")):
        if named := text(body, "data", "resolved", kind, words, name):
            return f"{sign}{named}"
    return words.strip()


def _plain(config: Config, body: Mapping[str, Any], words: str) -> str:
    """What was typed into a text, without the tags of mentions."""
    users = at(body, "data", "resolved", "users")
    names = {key: text(each, "username") for key, each in users.items()} if isinstance(users, dict) else {}
    return plain(words, names, {text(config, "applicationId"), text(body, "application_id")})


def _attached(body: Mapping[str, Any], option: Mapping[str, Any]) -> Attachment | None:
    if at(option, "type") != _ATTACHMENT:
        return None
    return attachment_of(at(body, "data", "resolved", "attachments", text(option, "value")))


def _chosen_message(body: Mapping[str, Any]) -> str:
    """The message on which a command of the context menu was called."""
    chosen = text(body, "data", "target_id")
    return text(body, "data", "resolved", "messages", chosen, "content").strip()
