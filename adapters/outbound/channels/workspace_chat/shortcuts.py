"""Shortcuts that people call from the search, the composer or the menu of a message.

Source: https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.contents import forwarded
from domain.channels.messages import Event, Identity, Sender
from domain.channels.refused import CHANNEL

from .config import TARGET, SlackConfig, SlackTarget
from .events import posted, session_of, shared_message

GLOBAL = "shortcut"
OF_MESSAGE = "message_action"


def read_shortcut(config: SlackConfig, payload: Mapping[str, Any], now: datetime) -> Event | str:
    """The event of a shortcut, or the reason why there is none.

    One of a message hands on its text and files, and is answered where it stands. A global one belongs to no channel:
    it is answered by direct message (see `DirectMessages`).
    """
    user, name = text(payload, "user", "id"), text(payload, "callback_id")
    of_message = text(payload, "type") == OF_MESSAGE
    channel = text(payload, "channel", "id") if of_message else user
    if not user or not name or not channel:
        return "incomplete"
    direct = not of_message or channel.startswith("D")
    trigger = text(payload, "trigger_id")
    event = Event(
        key=f"shortcut:{trigger}" if trigger else None,
        session_id=channel,
        sender=Sender(
            user,
            text(payload, "user", "name") or text(payload, "user", "username"),
            (Identity("workspace-chat", user),),
        ),
        text=name,
        target=TARGET.dump(SlackTarget(channel=channel, user=user, since=now.timestamp())),
        is_direct=direct,
        refused="" if direct or config.allows(channel) else CHANNEL,
        context={"command": name},
    )
    return _of_message(config, payload, event) if of_message else event


def _of_message(config: SlackConfig, payload: Mapping[str, Any], event: Event) -> Event:
    channel, message = text(event.target, "channel"), at(payload, "message")
    ts = text(message, "ts") or text(payload, "message_ts")
    thread = text(message, "thread_ts")
    if config.reply_in_thread and not event.is_direct:
        thread = thread or ts
    content = posted(message, "")
    if not content.is_given and isinstance(message, dict):
        content = shared_message(message) or content
    group = {} if event.is_direct else {"id": channel, "name": text(payload, "channel", "name")}
    return replace(
        event,
        session_id=session_of(channel, "" if event.is_direct else thread),
        alias=session_of(channel, thread) if event.is_direct and thread else "",
        text=content.text or ("" if content.attachments else event.text),
        attachments=content.attachments,
        target={**event.target, **TARGET.dump(SlackTarget(thread_ts=thread))},
        context={**event.context, **forwarded(content.author, ts), "group": group},
    )
