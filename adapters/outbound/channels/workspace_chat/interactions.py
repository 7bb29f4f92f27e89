"""Pressed buttons (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from domain.channels.messages import Event, Identity, Received, Sender


def read_interaction(payload: Mapping[str, Any], now: datetime) -> Received:
    """The event of a pressed button or a chosen option."""
    if text(payload, "type") != "block_actions":
        return Received(kind="ignored:interaction")
    chosen = next((each for each in items(payload, "actions") if _value(each)), None)
    channel = text(payload, "channel", "id") or text(payload, "container", "channel_id")
    user = text(payload, "user", "id")
    if chosen is None or not channel or not user:
        return Received(kind="ignored:no-value")
    return Received(events=(_event(payload, chosen, channel, user, now),), kind="action")


def _event(payload: Mapping[str, Any], chosen: Any, channel: str, user: str, now: datetime) -> Event:
    direct = channel.startswith("D") or text(payload, "channel", "name") == "directmessage"
    thread = text(payload, "message", "thread_ts") or text(payload, "container", "thread_ts")
    prompt = text(payload, "message", "ts") or text(payload, "container", "message_ts")
    if thread == prompt:  # somebody answered below the prompt, which itself stands in the channel
        thread = ""
    moment, action = text(chosen, "action_ts"), text(chosen, "action_id")
    target = {
        "channel": channel,
        "user": user,
        "prompt_ts": prompt,
        "prompt_url": text(payload, "response_url"),
        "since": now.timestamp(),
    }
    if thread:
        target["thread_ts"] = thread
    name = text(payload, "user", "name") or text(payload, "user", "username")
    return Event(
        key=f"action:{prompt}:{moment}:{action}" if moment else None,
        session_id=f"{channel}:{thread}" if thread and not direct else channel,
        sender=Sender(user, name, (Identity("workspace-chat", user),)),
        text=_value(chosen),
        target=target,
        choice=_value(chosen),
        is_direct=direct,
    )


def _value(action: Any) -> str:
    return text(action, "value") or text(action, "selected_option", "value")
