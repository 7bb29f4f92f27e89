"""Reads what Discord posts: interactions, and messages that a gateway forwarder hands on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.channels.common.bodies import at, json_object, same, text
from domain.channels.messages import Config, RawAnswer, RawCall, Received
from domain.refusals import NotFound, Unauthenticated

from .interactions import PING, Interaction, read_interaction
from .messages import read_message
from .signature import proved

FORWARDER_HEADER = "x-discord-gateway-token"
_JSON = {"content-type": "application/json"}
_FORWARDED = ("MESSAGE_CREATE", "GATEWAY_MESSAGE_CREATE")


def receive(config: Config, call: RawCall, now: datetime) -> Received:
    """Proves that a call comes from Discord, or from a forwarder that knows the bot's token, and reads it."""
    if call.callback != "webhook":
        raise NotFound(f"There is no callback '{call.callback}' on this channel; use 'webhook'.")
    if FORWARDER_HEADER in call.headers:
        _prove_forwarder(config, call)
        return _forwarded(config, json_object(call.body), None)
    missing_proof_field = proved(config, call, now)
    body = json_object(call.body)
    if "author" in body or "d" in body:
        return _forwarded(config, body, missing_proof_field)
    return _interaction(read_interaction(config, body, now), missing_proof_field)


def _prove_forwarder(config: Config, call: RawCall) -> None:
    if not same(call.headers[FORWARDER_HEADER], text(config, "botToken")):
        raise Unauthenticated("The header X-Discord-Gateway-Token is not the bot's token.")


def _interaction(read: Interaction, missing_proof_field: str | None) -> Received:
    answer = RawAnswer(200, orjson.dumps(read.answer), _JSON)
    if read.kind == PING:
        return Received(answer, kind="challenge", missing_proof_field=missing_proof_field)
    events = (read.event,) if read.event else ()
    return Received(answer, events=events, kind=read.kind, missing_proof_field=missing_proof_field)


def _forwarded(config: Config, body: Mapping[str, Any], missing_proof_field: str | None) -> Received:
    """A message as the gateway sends it: bare, as {t, d}, or as {type, data}."""
    name = text(body, "t") or text(body, "type")
    wrapped = at(body, "d") or at(body, "data")
    message = wrapped if name in _FORWARDED else body
    read = read_message(message, {text(config, "applicationId")})
    if isinstance(read, str):
        return Received(kind=f"ignored:{read}", missing_proof_field=missing_proof_field)
    return Received(events=(read,), kind="message", missing_proof_field=missing_proof_field)
