"""Calls from Slack: signed events, slash commands, pressed buttons and shortcuts. Pure.

Sources: https://docs.slack.dev/authentication/verifying-requests-from-slack/,
https://docs.slack.dev/interactivity/implementing-slash-commands,
https://docs.slack.dev/reference/interaction-payloads/block_actions-payload and
https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common import calls, contents, messages
from adapters.outbound.channels.common.bodies import at, first_text, form, items, json_object, same, text
from domain.channels.messages import ChannelMetadata, Event, RawAnswer, RawCall, Received
from domain.channels.refused import CHANNEL
from domain.conversations.forms import is_form, written_form
from domain.refusals import Invalid, Unauthenticated

from . import events, forms
from .config import ACTION, TARGET, SlackConfig, SlackTarget

NOT_HERE = "I am not set up to answer in this channel."
_WORKING_ON_IT = "Working on it…"
_SHORTCUT = "shortcut"
_MESSAGE_SHORTCUT = "message_action"


def receive(config: SlackConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies that a call was signed with signingSecret within five minutes, and reads it."""
    calls.require_webhook(call)
    seconds, secret = calls.signed_at(call, "X-Slack-Request-Timestamp", now), config.signing_secret
    if not secret or not same(call.headers.get("x-slack-signature", ""), sign(secret, seconds, call.body)):
        raise Unauthenticated("The header X-Slack-Signature does not fit the body and signingSecret.")
    if "json" in call.headers.get("content-type", "").lower() or call.body[:1] == b"{":
        return _read_json(config, json_object(call.body), metadata)
    fields = form(call.body)
    if "payload" in fields:
        return _read_interaction(config, json_object(fields["payload"].encode()), now)
    if fields.get("ssl_check") == "1":
        return Received(kind="ignored:ssl-check")
    if fields.get("command"):
        return _read_command(config, fields, metadata, now)
    raise Invalid("The body is neither an event, a slash command nor an interaction.")


def read_envelope(
    config: SlackConfig, envelope: Mapping[str, Any], metadata: ChannelMetadata, now: datetime
) -> Received:
    """Reads what comes over Socket Mode: the same as by HTTP, in an envelope. Raises `Invalid`."""
    payload = envelope.get("payload")
    if not isinstance(payload, dict):
        raise Invalid("payload must be an object.")
    match text(envelope, "type"):
        case "events_api":
            return _read_json(config, payload, metadata)
        case "slash_commands":
            return _read_command(config, {name: text(payload, name) for name in payload}, metadata, now)
        case "interactive":
            return _read_interaction(config, payload, now)
    return Received(kind="ignored:other")


def sign(secret: str, seconds: str, body: bytes) -> str:
    """The signature of a body: 'v0=' and an HMAC-SHA256 in hex."""
    return calls.signature(secret, f"v0:{seconds}:".encode() + body, "v0=")


def _read_json(config: SlackConfig, body: Mapping[str, Any], metadata: ChannelMetadata) -> Received:
    kind = text(body, "type")
    if kind == "url_verification":
        challenge = at(body, "challenge")
        if not isinstance(challenge, str) or not challenge:
            raise Invalid("challenge: a url_verification needs one.")
        answer = RawAnswer(200, challenge.encode(), {"content-type": "text/plain; charset=utf-8"})
        return Received(answer=answer, kind="challenge")
    event = events.read_event(config, body, metadata) if kind == "event_callback" else "other"
    chat = events.chat_of(at(body, "event"))
    return replace(calls.received(event), session_aliases=(chat,) if chat else ())


def _read_command(
    config: SlackConfig, fields: Mapping[str, str], metadata: ChannelMetadata, now: datetime
) -> Received:
    """A slash command: acknowledged to its sender alone, answered later at its response_url."""
    channel, user = fields.get("channel_id", ""), fields.get("user_id", "")
    if not channel or not user:
        raise Invalid("channel_id and user_id: a slash command needs both.")
    question = events.plain_command(events.without_mention(fields.get("text", ""), text(metadata, "user_id")))
    trigger, direct = fields.get("trigger_id", ""), channel.startswith("D")
    response_url = fields.get("response_url", "")
    target = SlackTarget(channel=channel, user=user, response_url=response_url, since=now.timestamp())
    event = Event(
        key=f"slash:{trigger}" if trigger else None,
        session_id=channel,
        sender=events.sender_of(user, fields.get("user_name", "")),
        text=question,
        target=TARGET.dump(target),
        canned_reply=None if question else events.GREETING,
        is_direct=direct,
        context={
            "command": fields["command"].removeprefix("/"),
            "group": _group(channel, fields.get("channel_name", ""), direct),
        },
    )
    if not direct and not config.allows(channel):
        answer = calls.json_answer({"response_type": "ephemeral", "text": NOT_HERE})
        return calls.received(replace(event, refused=CHANNEL), answer=answer)
    return calls.received(
        event, "command", calls.json_answer({"response_type": "ephemeral", "text": _WORKING_ON_IT})
    )


def _read_interaction(config: SlackConfig, payload: Mapping[str, Any], now: datetime) -> Received:
    """A pressed button, a chosen option or a shortcut."""
    kind = text(payload, "type")
    if kind in (_SHORTCUT, _MESSAGE_SHORTCUT):
        return calls.received(_shortcut(config, payload, now), "shortcut")
    if kind == "view_submission":
        return _submitted(config, payload, now)
    if kind != "block_actions":
        return Received(kind="ignored:interaction")
    action = next((action for action in items(payload, "actions") if _value(action)), None)
    channel = text(payload, "channel", "id") or text(payload, "container", "channel_id")
    user = text(payload, "user", "id")
    if action is None or not channel or not user:
        return Received(kind="ignored:no-value")
    press = _press(payload, action, channel, user, now)
    if not press.is_direct and not config.allows(channel):
        return Received(kind="ignored:channel")
    return Received(events=(press,), kind="action")


def _press(payload: Mapping[str, Any], action: object, channel: str, user: str, now: datetime) -> Event:
    name = text(payload, "channel", "name")
    action_id, pressed_at = text(action, "action_id"), text(action, "action_ts")
    direct = channel.startswith("D") or name == "directmessage"
    thread = text(payload, "message", "thread_ts") or text(payload, "container", "thread_ts")
    prompt = text(payload, "message", "ts") or text(payload, "container", "message_ts")
    if thread == prompt:  # somebody answered below the prompt, which itself stands in the channel
        thread = ""
    session_id, alias = _sessions(channel, thread, direct)
    label = text(action, "text", "text") or text(action, "selected_option", "text", "text")
    target = SlackTarget(
        channel=channel,
        thread_ts=thread,
        user=user,
        prompt_ts=prompt,
        prompt_url=text(payload, "response_url"),
        since=now.timestamp(),
        trigger_id=text(payload, "trigger_id") if is_form(_value(action)) else "",
    )
    return Event(
        key=f"action:{prompt}:{pressed_at}:{action_id}" if pressed_at else None,
        session_id=session_id,
        alias=alias,
        sender=events.sender_of(user, _user_name(payload)),
        text=messages.pressed_text(label, _value(action)),
        target=TARGET.dump(target),
        choice=_value(action),
        is_direct=direct,
        context={
            "group": _group(channel, name, direct),
            "platform": {"actionId": "" if action_id.startswith(ACTION) else action_id},
        },
    )


def _submitted(config: SlackConfig, payload: Mapping[str, Any], now: datetime) -> Received:
    """A modal that was sent: it stays open and shows what does not fit
    (https://docs.slack.dev/surfaces/modals#displaying_errors)."""
    submission = _submission(config, payload, now)
    if isinstance(submission, Event) and (faults := forms.faults(payload)):
        answer = calls.json_answer({"response_action": "errors", "errors": faults})
        return Received(answer, kind="ignored:unfit")
    return calls.received(submission, "form")


def _submission(config: SlackConfig, payload: Mapping[str, Any], now: datetime) -> Event | str:
    """The event of a modal of ours that was sent, or the reason why it is ignored."""
    submitted, user = forms.submitted(payload), text(payload, "user", "id")
    if submitted is None or not user:
        return "interaction"
    place, entered = submitted
    channel, thread = place["channel"], place["thread"]
    direct = channel.startswith("D")
    session_id, alias = _sessions(channel, thread, direct)
    return Event(
        key=f"view:{text(payload, 'view', 'id')}",
        session_id=session_id,
        alias=alias,
        sender=events.sender_of(user, _user_name(payload)),
        text=written_form(entered),
        target=TARGET.dump(SlackTarget(channel=channel, thread_ts=thread, user=user, since=now.timestamp())),
        choice=place["form"],
        form_input=entered,
        is_direct=direct,
        context={"group": _group(channel, "", direct)},
        refused="" if direct or config.allows(channel) else CHANNEL,
    )


def _shortcut(config: SlackConfig, payload: Mapping[str, Any], now: datetime) -> Event | str:
    """The event of a shortcut, or the reason why it is ignored.

    The shortcut of a message brings its text and files, and is answered where it stands. A global one belongs to no
    channel: it is answered by direct message (see `Workspace.placed`).
    """
    user, trigger = text(payload, "user", "id"), text(payload, "trigger_id")
    name = text(payload, "callback_id")
    of_message = text(payload, "type") == _MESSAGE_SHORTCUT
    channel = text(payload, "channel", "id") if of_message else user
    if not user or not name or not channel:
        return "incomplete"
    direct = not of_message or channel.startswith("D")
    event = Event(
        key=f"shortcut:{trigger}" if trigger else None,
        session_id=channel,
        sender=events.sender_of(user, _user_name(payload)),
        text=name,
        target=TARGET.dump(SlackTarget(channel=channel, user=user, since=now.timestamp())),
        is_direct=direct,
        refused="" if direct or config.allows(channel) else CHANNEL,
        context={"command": name},
    )
    return _with_message(config, payload, event) if of_message else event


def _with_message(config: SlackConfig, payload: Mapping[str, Any], event: Event) -> Event:
    """The event of a shortcut with the message on which it was called."""
    channel, message, direct = text(payload, "channel", "id"), at(payload, "message"), event.is_direct
    ts = text(message, "ts") or text(payload, "message_ts")
    thread = text(message, "thread_ts") or (ts if config.reply_in_thread and not direct else "")
    session_id, alias = _sessions(channel, thread, direct)
    content = events.posted(message, "")
    if not content.is_given and isinstance(message, dict):
        content = events.shared_message(message) or content
    group = _group(channel, text(payload, "channel", "name"), direct)
    return replace(
        event,
        session_id=session_id,
        alias=alias,
        text=content.text or ("" if content.attachments else event.text),
        attachments=content.attachments,
        target={**event.target, **TARGET.dump(SlackTarget(thread_ts=thread))},
        context={**event.context, **contents.forwarded(content.author, ts), "group": group},
    )


def _sessions(channel: str, thread: str, direct: bool) -> tuple[str, str]:
    """The session of a message and its alias: direct messages are one session with their threads."""
    in_thread = events.session_of(channel, thread)
    return (channel, in_thread if thread else "") if direct else (in_thread, "")


def _user_name(payload: Mapping[str, Any]) -> str:
    return first_text(at(payload, "user"), "name", "username")


def _group(channel: str, name: str, direct: bool) -> dict[str, str]:
    return {} if direct else {"id": channel, "name": name}


def _value(action: object) -> str:
    return text(action, "value") or text(action, "selected_option", "value")
