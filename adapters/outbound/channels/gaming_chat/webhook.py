"""Calls from Discord: interactions (slash commands, message components, submitted forms), and messages that a gateway
forwarder hands on. Pure.

https://docs.discord.com/developers/interactions/receiving-and-responding
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from adapters.outbound.channels.common import calls
from adapters.outbound.channels.common.bodies import at, first_text, items, json_object, same, size, text
from adapters.outbound.channels.common.messages import pressed_text
from domain.channels.messages import Attachment, ChannelMetadata, Event, Merge, RawAnswer, RawCall, Received
from domain.conversations.forms import opens_dialog, written_form
from domain.refusals import Unauthenticated

from . import forms, messages
from .config import TARGET, DiscordConfig, DiscordTarget

FORWARDER_HEADER = "x-discord-gateway-token"
_FORWARDED = ("MESSAGE_CREATE", "GATEWAY_MESSAGE_CREATE")
GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."
EPHEMERAL = 1 << 6
_UNREADABLE = "This could not be read. Please try again."
_NOT_SET_UP = "I am not set up to answer in this channel."
_PONG = calls.json_answer({"type": 1})
_REFUSED = calls.json_answer({"type": 4, "data": {"content": _UNREADABLE, "flags": EPHEMERAL}})
_NOT_HERE = calls.json_answer({"type": 4, "data": {"content": _NOT_SET_UP, "flags": EPHEMERAL}})
_DEFERRED_MESSAGE = calls.json_answer({"type": 5})
_DEFERRED_UPDATE = calls.json_answer({"type": 6})
ANSWERED_LATER = RawAnswer(202)
"""A call on the callback address of the interaction answers it: a form has to be the first answer to a press."""
_NO_SUGGESTIONS = calls.json_answer({"type": 8, "data": {"choices": []}})
_NESTED = (1, 2)
"""Types of options that are subcommands and groups of them."""
_ATTACHMENT = 11


def receive(config: DiscordConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies that a call comes from Discord, or from a forwarder that knows the bot's token, and reads it.

    Discord signs the time and the body with Ed25519; a signature is valid for five minutes. Without publicKey nothing
    can be verified (https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers).
    """
    calls.require_webhook(call)
    if FORWARDER_HEADER in call.headers:
        if not same(call.headers[FORWARDER_HEADER], config.bot_token):
            raise Unauthenticated("The header X-Discord-Gateway-Token is not the bot's token.")
        return _forwarded(config, json_object(call.body), None)
    if config.public_key:
        seconds = calls.signed_at(call, "X-Signature-Timestamp", now)
        try:
            signature = bytes.fromhex(call.headers.get("x-signature-ed25519", ""))
            VerifyKey(bytes.fromhex(config.public_key)).verify(seconds.encode() + call.body, signature)
        except (ValueError, BadSignatureError):
            raise Unauthenticated(
                "The header X-Signature-Ed25519 does not fit the body and publicKey."
            ) from None
    missing_proof_field = None if config.public_key else "publicKey"
    body = json_object(call.body)
    if "author" in body or "d" in body:
        return _forwarded(config, body, missing_proof_field)
    return replace(read_interaction(config, body, now), missing_proof_field=missing_proof_field)


def _forwarded(config: DiscordConfig, body: Mapping[str, Any], missing_proof_field: str | None) -> Received:
    """A message as the gateway sends it: bare, as {t, d}, or as {type, data}."""
    name = first_text(body, "t", "type")
    message = (at(body, "d") or at(body, "data")) if name in _FORWARDED else body
    own_ids = {config.application_id}
    event = messages.read_message(config, message, own_ids)
    if not isinstance(event, str):
        event = messages.of_forwarder(config, event)
    if isinstance(event, Event) and event.refused and not messages.mentions(message, own_ids):
        event = event.refused
    if isinstance(event, Event) and event.key and not (event.is_direct and event.attachments):
        event = replace(event, merge=Merge(event.key))  # its files and its thread may come over the gateway
    return replace(calls.received(event), missing_proof_field=missing_proof_field)


def read_interaction(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Received:
    """Reads an interaction of any type; those that no command or component of ours makes are ignored. Discord expects
    the answer within three seconds."""
    match at(body, "type"):
        case 1:
            return Received(_PONG, kind="challenge")
        case 2:
            return _deferred("command", config, body, _command(config, body, now))
        case 3:
            event = _component(config, body, now)
            event = event and messages.of_interaction(config, body, event)
            if event is None or event.refused:  # a press alone is not listed
                reason = event.refused if event else "no-value"
                return Received(_DEFERRED_UPDATE, kind=f"ignored:{reason}")
            answer = ANSWERED_LATER if text(event.target, "interaction") else _DEFERRED_UPDATE
            return Received(answer, (event,), kind="component")
        case 4:
            return Received(_NO_SUGGESTIONS, kind="ignored:autocomplete")
        case 5:
            return _deferred("form", config, body, _form(config, body, now))
    return Received(_DEFERRED_UPDATE, kind="ignored:other")


def _deferred(kind: str, config: DiscordConfig, body: Mapping[str, Any], event: Event | None) -> Received:
    """An interaction for which Discord shows 'is thinking', but where nothing would ever replace it."""
    if event is None:
        return Received(_REFUSED, kind="ignored:incomplete")
    placed = messages.of_interaction(config, body, event)
    if not placed.refused:
        return calls.received(placed, kind, _DEFERRED_MESSAGE)
    in_channel = TARGET.dump(DiscordTarget(channel_id=text(event.target, "channel_id")))
    return calls.received(replace(placed, target=in_channel), kind, _NOT_HERE)


def _command(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Event | None:
    options = list(_options(items(body, "data", "options")))
    values = [_value(body, option) for option in options if at(option, "type") != _ATTACHMENT]
    # A command of the context menu is called on a message or on a person.
    message = _target_message(body)
    person = text(body, "data", "resolved", "users", text(body, "data", "target_id"), "username")
    chosen = text(message, "content").strip() or (f"@{person}" if person else "")
    question = _plain(config, body, " ".join(filter(None, values)) or chosen)
    ids = [text(option, "value") for option in options if at(option, "type") == _ATTACHMENT]
    files = (at(body, "data", "resolved", "attachments", file_id) for file_id in ids)
    attachments = tuple(filter(None, map(messages.attachment_of, (*files, *items(message, "attachments")))))
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
    author = first_text(at(message, "author"), "global_name", "username")
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
    rows = items(body, "message", "components")
    buttons = [button for row in rows for button in items(row, "components")]
    label = next((text(button, "label") for button in buttons if text(button, "custom_id") == value), "")
    event = _event(config, body, pressed_text(label, value), now) if value else None
    if event is None:
        return None
    interaction = text(body, "id") if opens_dialog(value) else ""
    prompt = TARGET.dump(DiscordTarget(prompt_id=text(body, "message", "id"), interaction=interaction))
    custom_id = {"customId": text(body, "data", "custom_id")} if values else {}
    context = {**event.context, "platform": custom_id}
    return replace(event, choice=value, target={**event.target, **prompt}, context=context)


def _form(config: DiscordConfig, body: Mapping[str, Any], now: datetime) -> Event | None:
    """A submitted modal, which the service or another program of the application opened."""
    if (entered := forms.submitted(at(body, "data"))) is not None:
        return _own_form(config, body, entered, now)
    values, files = _form_content(body)
    name = text(body, "data", "custom_id")
    written = "\n".join(f"{id}: {value}" for id, value in values.items())
    if not (name or written or files):
        return None
    event = _event(config, body, written or ("" if files else name), now)
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


def _own_form(
    config: DiscordConfig, body: Mapping[str, Any], entered: Mapping[str, object], now: datetime
) -> Event | None:
    event = _event(config, body, written_form(entered), now)
    return event and replace(
        event,
        choice=text(body, "data", "custom_id"),
        form_input=entered,
        target={**event.target, **TARGET.dump(DiscordTarget(deferred=True))},
    )


def _form_content(body: Mapping[str, Any]) -> tuple[dict[str, str], list[Attachment]]:
    """The values and the files of a form. Discord names the ids of its fields, not their labels
    (https://docs.discord.com/developers/interactions/receiving-and-responding#modal-submit-data-structure)."""
    values, files = dict[str, str](), list[Attachment]()
    for row in items(body, "data", "components"):
        for field in (at(row, "component"), *items(row, "components")):
            options = [value for value in items(field, "values") if isinstance(value, str)]
            uploads = (at(body, "data", "resolved", "attachments", value) for value in options)
            uploaded = list(filter(None, map(messages.attachment_of, uploads)))
            files += uploaded
            value = text(field, "value") or ("" if uploaded else ", ".join(options))
            if value and text(field, "custom_id"):
                values[text(field, "custom_id")] = value
    return values, files


def _event(config: DiscordConfig, body: Mapping[str, Any], content: str, now: datetime) -> Event | None:
    """In a server the user is inside the member. The token answers for 15 minutes; after that the channel is left."""
    sender = messages.sender_of(at(body, "member", "user") or at(body, "user"), at(body, "member"))
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
        session_id=messages.session_of(channel, sender.external_id),
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
    users = at(body, "data", "resolved", "users")
    names = {key: text(user, "username") for key, user in users.items()} if isinstance(users, dict) else {}
    return messages.plain(content, names, {config.application_id, text(body, "application_id")})


def _target_message(body: Mapping[str, Any]) -> Any:
    """The message on which a command of the context menu was called."""
    return at(body, "data", "resolved", "messages", text(body, "data", "target_id"))
