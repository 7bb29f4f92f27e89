"""Calls from Discord: interactions, and messages that a gateway forwarder hands on. Pure.

Interactions: slash commands, message components and submitted forms. Pure.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from adapters.outbound.channels.common.bodies import at, items, json_object, same, size, text
from adapters.outbound.channels.common.calls import json_answer, require_webhook, signed_at
from adapters.outbound.channels.common.messages import pressed_text
from adapters.outbound.channels.gaming_chat.config import TARGET, DiscordConfig, DiscordTarget
from adapters.outbound.channels.gaming_chat.messages import (
    attachment_of,
    mentions,
    of_forwarder,
    of_interaction,
    plain,
    read_message,
    sender_of,
    session_of,
)
from domain.channels.messages import Attachment, ChannelMetadata, Event, Merge, RawCall, Received
from domain.refusals import Unauthenticated

FORWARDER_HEADER = "x-discord-gateway-token"
_FORWARDED = ("MESSAGE_CREATE", "GATEWAY_MESSAGE_CREATE")


def receive(config: DiscordConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies that a call comes from Discord, or from a forwarder that knows the bot's token, and reads it."""
    require_webhook(call)
    if FORWARDER_HEADER in call.headers:
        if not same(call.headers[FORWARDER_HEADER], config.bot_token):
            raise Unauthenticated("The header X-Discord-Gateway-Token is not the bot's token.")
        return _forwarded(config, json_object(call.body), None)
    missing_proof_field = _missing_proof_field(config, call, now)
    body = json_object(call.body)
    if "author" in body or "d" in body:
        return _forwarded(config, body, missing_proof_field)
    interaction = read_interaction(config, body, now)
    events = (interaction.event,) if interaction.event else ()
    return Received(
        json_answer(interaction.answer),
        events,
        kind=interaction.kind,
        missing_proof_field=missing_proof_field,
    )


def _missing_proof_field(config: DiscordConfig, call: RawCall, now: datetime) -> str | None:
    """The config field without which nothing can be verified, None when the call is verified: an Ed25519 signature
    of the time and the body, at most five minutes old. Raises `Unauthenticated`.

    https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
    """
    key = config.public_key
    if not key:
        return "publicKey"
    seconds = signed_at(call, "X-Signature-Timestamp", now)
    try:
        signature = bytes.fromhex(call.headers.get("x-signature-ed25519", ""))
        VerifyKey(bytes.fromhex(key)).verify(seconds.encode() + call.body, signature)
    except (ValueError, BadSignatureError):
        raise Unauthenticated("The header X-Signature-Ed25519 does not fit the body and publicKey.") from None
    return None


def _forwarded(config: DiscordConfig, body: Mapping[str, Any], missing_proof_field: str | None) -> Received:
    """A message as the gateway sends it: bare, as {t, d}, or as {type, data}."""
    name = text(body, "t") or text(body, "type")
    message = (at(body, "d") or at(body, "data")) if name in _FORWARDED else body
    own_ids = {config.application_id}
    event = read_message(config, message, own_ids)
    if not isinstance(event, str):
        event = of_forwarder(config, event)
    if isinstance(event, Event) and event.refused and not mentions(message, own_ids):
        event = event.refused
    if isinstance(event, Event) and event.key and not (event.is_direct and event.attachments):
        event = replace(event, merge=Merge(event.key))  # its files and its thread may come over the gateway
    if isinstance(event, str):
        return Received(kind=f"ignored:{event}", missing_proof_field=missing_proof_field)
    kind = f"ignored:{event.refused}" if event.refused else "message"
    return Received(events=(event,), kind=kind, missing_proof_field=missing_proof_field)


GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."
EPHEMERAL = 1 << 6
_UNREADABLE = "This could not be read. Please try again."
_PONG = {"type": 1}
_REFUSED = {"type": 4, "data": {"content": _UNREADABLE, "flags": EPHEMERAL}}
_NOT_HERE = {"type": 4, "data": {"content": "I am not set up to answer in this channel.", "flags": EPHEMERAL}}
_DEFERRED_MESSAGE = {"type": 5}
_DEFERRED_UPDATE = {"type": 6}
_NO_SUGGESTIONS = {"type": 8, "data": {"choices": []}}
_NESTED = (1, 2)
"""Types of options that are subcommands and groups of them."""
_ATTACHMENT = 11


@dataclass(frozen=True, slots=True)
class Interaction:
    """What an interaction says, and the answer that Discord expects within three seconds."""

    kind: str
    answer: Mapping[str, Any]
    event: Event | None = None


def read_interaction(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Interaction:
    """Reads an interaction of any type; those that no command or component of ours makes are ignored."""
    match at(body, "type"):
        case 1:
            return Interaction("challenge", _PONG)
        case 2:
            return _deferred("command", config, body, _command(config, body, now))
        case 3:
            event = _component(config, body, now)
            event = event and of_interaction(config, body, event)
            if event and event.refused:  # a press alone is not listed
                return Interaction(f"ignored:{event.refused}", _DEFERRED_UPDATE)
            return Interaction("component" if event else "ignored:no-value", _DEFERRED_UPDATE, event)
        case 4:
            return Interaction("ignored:autocomplete", _NO_SUGGESTIONS)
        case 5:
            return _deferred("form", config, body, _form(config, body, now))
    return Interaction("ignored:other", _DEFERRED_UPDATE)


def _deferred(kind: str, config: DiscordConfig, body: Mapping[str, Any], event: Event | None) -> Interaction:
    """An interaction for which Discord shows 'is thinking', but where nothing would ever replace it."""
    if event is None:
        return Interaction("ignored:incomplete", _REFUSED)
    placed = of_interaction(config, body, event)
    if not placed.refused:
        return Interaction(kind, _DEFERRED_MESSAGE, placed)
    in_channel = TARGET.dump(DiscordTarget(channel_id=text(event.target, "channel_id")))
    return Interaction(f"ignored:{placed.refused}", _NOT_HERE, replace(placed, target=in_channel))


def _command(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Event | None:
    options = list(_options(items(body, "data", "options")))
    values = [_value(body, option) for option in options if at(option, "type") != _ATTACHMENT]
    question = _plain(config, body, " ".join(filter(None, values)) or _chosen(body))
    attachments = tuple(filter(None, (_attachment(body, option) for option in options)))
    attachments += tuple(filter(None, map(attachment_of, items(_target_message(body), "attachments"))))
    event = _event(config, body, question, now)
    return event and replace(
        event,
        attachments=attachments,
        canned_reply=None if question or attachments else GREETING,
        target={**event.target, **TARGET.dump(DiscordTarget(deferred=True))},
        context={**event.context, **_called(body, options)},
    )


def _called(body: Mapping[str, Any], options: list[Mapping[str, Any]]) -> dict[str, object]:
    """Which command was called, with what, and on whose message."""
    message, names = _target_message(body), [text(body, "data", "name")]
    nested = items(body, "data", "options")
    while nested and at(nested[0], "type") in _NESTED:
        names.append(text(nested[0], "name"))
        nested = items(nested[0], "options")
    author = text(message, "author", "global_name") or text(message, "author", "username")
    plain_options = (option for option in options if at(option, "type") != _ATTACHMENT)
    values = {text(option, "name"): _value(body, option) for option in plain_options}
    return {
        "command": " ".join(filter(None, names)),
        "forwarded": {"author": author, "at": text(message, "timestamp")},
        "platform": {"options": values},
    }


def _component(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Event | None:
    values = [value for value in items(body, "data", "values") if isinstance(value, str)]
    value = ", ".join(values) or text(body, "data", "custom_id")
    event = _event(config, body, pressed_text(_label(body, value), value), now) if value else None
    prompt = TARGET.dump(DiscordTarget(prompt_id=text(body, "message", "id")))
    if event is None:
        return None
    custom_id = {"customId": text(body, "data", "custom_id")} if values else {}
    context = {**event.context, "platform": custom_id}
    return replace(event, choice=value, target={**event.target, **prompt}, context=context)


def _form(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Event | None:
    """A submitted modal, which another program of the application opened. Discord tells the ids of its fields, not
    their labels (https://docs.discord.com/developers/interactions/receiving-and-responding#modal-submit-data-structure).
    """
    rows = items(body, "data", "components")
    fields = [field for row in rows for field in (at(row, "component"), *items(row, "components"))]
    files, values = list[Attachment](), dict[str, str]()
    for field in fields:
        given = [value for value in items(field, "values") if isinstance(value, str)]
        uploads = (attachment_of(at(body, "data", "resolved", "attachments", value)) for value in given)
        uploaded = list(filter(None, uploads))
        files += uploaded
        value = text(field, "value") or ("" if uploaded else ", ".join(given))
        if value and text(field, "custom_id"):
            values[text(field, "custom_id")] = value
    name = text(body, "data", "custom_id")
    written = "\n".join(f"{id}: {value}" for id, value in values.items())
    event = (
        _event(config, body, written or ("" if files else name), now) if name or written or files else None
    )
    return event and replace(
        event,
        attachments=tuple(files),
        target={**event.target, **TARGET.dump(DiscordTarget(deferred=True))},
        context={
            **event.context,
            "payload": json.dumps(values, ensure_ascii=False) if values else "",
            "platform": {"customId": name},
        },
    )


def _label(body: Mapping[str, Any], value: str) -> str:
    """What the pressed button shows."""
    rows = items(body, "message", "components")
    buttons = (button for row in rows for button in items(row, "components"))
    return next((text(button, "label") for button in buttons if text(button, "custom_id") == value), "")


def _event(config: DiscordConfig, body: Mapping[str, Any], content: str, now: datetime) -> Event | None:
    """In a server the user is inside the member. The token answers for 15 minutes; after that the channel is left."""
    sender = sender_of(at(body, "member", "user") or at(body, "user"), at(body, "member"))
    channel = text(body, "channel_id") or text(body, "channel", "id")
    if sender is None or not channel:
        return None
    target = DiscordTarget(
        channel_id=channel,
        application_id=config.application_id or text(body, "application_id"),
        token=text(body, "token"),
        since=now.timestamp(),
        max_file=size(body, "attachment_size_limit") or None,
    )
    return Event(
        key=text(body, "id") or None,
        session_id=session_of(channel, sender.external_id),
        sender=sender,
        text=content,
        target=TARGET.dump(target),
        is_direct=not text(body, "guild_id"),
        context={"language": text(body, "locale")},
    )


def _options(options: list[Any]) -> Iterator[Mapping[str, Any]]:
    """The options with values, those of subcommands included."""
    for option in options:
        if not isinstance(option, dict):
            continue
        if at(option, "type") in _NESTED:
            yield from _options(items(option, "options"))
        else:
            yield option


def _value(body: Mapping[str, Any], option: Mapping[str, Any]) -> str:
    """An option's value; people, roles and channels by name."""
    value = at(option, "value")
    if isinstance(value, bool):
        return str(value).lower()
    value = text(option, "value")
    for kind, sign, field in (("users", "@", "username"), ("roles", "@", "name"), ("channels", "#", "name")):
        if name := text(body, "data", "resolved", kind, value, field):
            return f"{sign}{name}"
    return value.strip()


def _plain(config: DiscordConfig, body: Mapping[str, Any], content: str) -> str:
    """The text without the tags of mentions."""
    users = at(body, "data", "resolved", "users")
    names = {key: text(user, "username") for key, user in users.items()} if isinstance(users, dict) else {}
    return plain(content, names, {config.application_id, text(body, "application_id")})


def _attachment(body: Mapping[str, Any], option: Mapping[str, Any]) -> Attachment | None:
    if at(option, "type") != _ATTACHMENT:
        return None
    return attachment_of(at(body, "data", "resolved", "attachments", text(option, "value")))


def _target_message(body: Mapping[str, Any]) -> Any:
    """The message on which a command of the context menu was called."""
    return at(body, "data", "resolved", "messages", text(body, "data", "target_id"))


def _chosen(body: Mapping[str, Any]) -> str:
    """The text of that message; the name of the person where the command was called on one."""
    person = text(body, "data", "resolved", "users", text(body, "data", "target_id"), "username")
    return text(_target_message(body), "content").strip() or (f"@{person}" if person else "")
