"""Reads what the Bot Framework calls with: its origin first, then the activity."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from adapters.outbound.channels.common.bodies import json_object
from adapters.outbound.channels.enterprise_chat import activities, tokens
from domain.channels.messages import ChannelMetadata, Config, RawCall, Received
from domain.refusals import Invalid, NotFound


def receive(config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
    """Proves the origin of a call and reads it.

    Raises `Unauthenticated`, `Forbidden`, `Unavailable` (see `tokens.prove`), `Invalid`, `NotFound`.
    """
    if call.callback != "webhook":
        raise NotFound(f"This channel has no callback '{call.callback}'; its callback is 'webhook'.")
    if call.method != "POST":
        raise Invalid("Activities are posted.")
    app_id = str(config.get("appId") or "")
    if not app_id:
        return replace(activities.read(json_object(call.body)), missing_proof_field="appId")
    proof = tokens.prove(app_id, call, known, now)
    activity = json_object(call.body)
    proof.check_activity(activity)
    return activities.read(activity)
