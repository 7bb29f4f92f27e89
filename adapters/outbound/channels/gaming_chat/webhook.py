"""Calls from Discord: interactions, and messages that a gateway forwarder hands on. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from adapters.outbound.channels.common.bodies import at, json_object, same, text
from adapters.outbound.channels.common.calls import json_answer, require_webhook, signed_at
from domain.channels.messages import ChannelMetadata, Event, Merge, RawCall, Received
from domain.refusals import Unauthenticated

from .config import DiscordConfig
from .interactions import read_interaction
from .messages import mentions, read_message
from .threads import of_forwarder

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
