"""Reads what Slack posts: events, slash commands and pressed buttons. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.channels.common.bodies import at, form, json_object, text
from domain.channels.messages import (
    ChannelMetadata,
    Config,
    Event,
    Identity,
    RawAnswer,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import Invalid, NotFound

from .events import read_event
from .interactions import read_interaction
from .signature import prove
from .wording import GREETING, plain_command, without_mention

WORKING_ON_IT = "Working on it…"


def receive(config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
    """Proves that a call comes from Slack and reads it."""
    if call.callback != "webhook":
        raise NotFound(f"There is no callback '{call.callback}' on this channel; use 'webhook'.")
    prove(config, call, now)
    if _is_json(call):
        return _read_json(json_object(call.body), known)
    fields = form(call.body)
    if "payload" in fields:
        return read_interaction(json_object(fields["payload"].encode()), now)
    if fields.get("ssl_check") == "1":
        return Received(kind="ignored:ssl-check")
    if fields.get("command"):
        return _read_command(fields, text(known, "user_id"), now)
    raise Invalid("The body is neither an event, a slash command nor an interaction.")


def _is_json(call: RawCall) -> bool:
    return "json" in call.headers.get("content-type", "").lower() or call.body[:1] == b"{"


def _read_json(body: Mapping[str, Any], known: ChannelMetadata) -> Received:
    kind = text(body, "type")
    if kind == "url_verification":
        return _challenged(body)
    if kind != "event_callback":
        return Received(kind="ignored:other")
    read = read_event(body, known)
    if isinstance(read, str):
        return Received(kind=f"ignored:{read}")
    return Received(events=(read,), kind="message")


def _challenged(body: Mapping[str, Any]) -> Received:
    challenge = at(body, "challenge")
    if not isinstance(challenge, str) or not challenge:
        raise Invalid("challenge: a url_verification needs one.")
    answer = RawAnswer(200, challenge.encode(), {"content-type": "text/plain; charset=utf-8"})
    return Received(answer=answer, kind="challenge")


def _read_command(fields: Mapping[str, str], bot: str, now: datetime) -> Received:
    """A slash command: acknowledged to its sender alone, answered later at its response_url."""
    channel, user = fields.get("channel_id", ""), fields.get("user_id", "")
    if not channel or not user:
        raise Invalid("channel_id and user_id: a slash command needs both.")
    written = fields.get("text", "")
    said = plain_command(without_mention(written, bot) if bot else written)
    trigger = fields.get("trigger_id", "")
    event = Event(
        key=f"slash:{trigger}" if trigger else None,
        session_id=channel,
        sender=Sender(user, fields.get("user_name", ""), (Identity("workspace-chat", user),)),
        text=said,
        target={
            "channel": channel,
            "user": user,
            "response_url": fields.get("response_url", ""),
            "since": now.timestamp(),
        },
        canned_reply=None if said else GREETING,
        is_direct=channel.startswith("D"),
    )
    acknowledged = orjson.dumps({"response_type": "ephemeral", "text": WORKING_ON_IT})
    answer = RawAnswer(200, acknowledged, {"content-type": "application/json; charset=utf-8"})
    return Received(answer=answer, events=(event,), kind="command")
