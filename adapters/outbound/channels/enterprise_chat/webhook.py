"""Calls of the Bot Framework: the proof of their origin, a bearer token that it signs, and their activity. Pure.

Source: https://learn.microsoft.com/en-us/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
(section "Authenticate requests from the Bot Connector service to your bot").
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import jwt

from adapters.outbound.channels.common.bodies import at, items, json_object, same, text
from adapters.outbound.channels.common.calls import require_webhook
from domain.channels.messages import ChannelMetadata, RawCall, Received
from domain.channels.refused import CHANNEL
from domain.refusals import Forbidden, Invalid, Unauthenticated, Unavailable
from ports.capabilities import StaleMetadata

from . import activities
from .config import TeamsConfig

ALGORITHM = "RS256"
LEEWAY = 300.0
"""Seconds by which clocks may differ, as Microsoft documents."""
_MAX_TOKEN = 16_384


def receive(config: TeamsConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies the origin of a call, before anybody reads the body, and reads it.

    Raises `NotFound`, `Invalid`, `Unauthenticated`, `Forbidden`, `StaleMetadata` (signed with a key that is not in
    `metadata`), `Unavailable` (no keys could be fetched).
    """
    require_webhook(call)
    if call.method != "POST":
        raise Invalid("Activities are posted.")
    if not config.app_id:
        return replace(_addressed(config, json_object(call.body)), missing_proof_field="appId")
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip() or len(token) > _MAX_TOKEN:
        raise Unauthenticated("The call has no bearer token of the Bot Framework.")
    key, claims = _verified(token.strip(), metadata)
    _check_claims(claims, config.app_id, metadata, now.timestamp())
    activity = json_object(call.body)
    # A token is bound to one service URL, and its key to the channels that endorse it.
    bound = text(claims, "serviceurl") or text(claims, "serviceUrl")
    if not bound or not same(bound.rstrip("/"), text(activity, "serviceUrl").rstrip("/")):
        raise Forbidden("The bearer token is for another serviceUrl than the activity's.")
    endorsed = at(key, "endorsements")
    if isinstance(endorsed, list) and text(activity, "channelId") not in endorsed:
        raise Forbidden("The key of the bearer token does not speak for the activity's channelId.")
    return _addressed(config, activity)


def _addressed(config: TeamsConfig, activity: Mapping[str, Any]) -> Received:
    """Reads an activity of a conversation in which the bot answers, and which addresses it."""
    received = activities.read(activity)
    if all(event.is_direct for event in received.events):
        return received
    conversation = text(activity, "conversation", "id")
    ids = [conversation, conversation.partition(";")[0], text(activity, "channelData", "channel", "id")]
    mentioned = activities.mentions_bot(activity)
    if not config.allows(*ids, text(activity, "channelData", "team", "id")):
        is_new = received.kind == "message" and mentioned
        events = tuple(replace(event, refused=CHANNEL) for event in received.events if is_new)
        return Received(received.answer, events, kind=f"ignored:{CHANNEL}")
    is_plain = received.kind == "message" and not isinstance(at(activity, "value"), Mapping)
    if config.require_mention and is_plain and not mentioned:
        return Received(received.answer, kind="ignored:not-addressed")
    return received


def _verified(token: str, metadata: ChannelMetadata) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The key that signed the token, and its claims, whose times are checked apart, by the clock of the call."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, RecursionError):  # PyJWT reads the header's JSON whatever its nesting
        raise Unauthenticated("The bearer token is not a JSON Web Token.") from None
    if header.get("alg") != ALGORITHM:
        raise Unauthenticated(f"The bearer token is not signed with {ALGORITHM}.")
    keys = [key for key in items(metadata, "keys") if text(key, "kty") == "RSA"]
    if not keys:
        raise Unavailable("The Bot Framework's signing keys could not be fetched; try again.")
    key_id = text(header, "kid")
    key: Mapping[str, Any] | None = next((key for key in keys if text(key, "kid") == key_id), None)
    if not key_id or key is None:
        raise StaleMetadata("The bearer token is signed with an unknown key.")
    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
    try:
        public = jwt.PyJWK(dict(key), algorithm=ALGORITHM)
        claims: Mapping[str, Any] = jwt.decode(token, public, algorithms=[ALGORITHM], options=options)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise Unauthenticated("The signature of the bearer token is wrong.") from None
    return key, claims


def _check_claims(claims: Mapping[str, Any], app_id: str, metadata: ChannelMetadata, now: float) -> None:
    """Raises `Unauthenticated` for another audience or issuer, and before and after the validity of the token."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if not any(same(str(name), app_id) for name in audiences):
        raise Unauthenticated("The bearer token is for another app: its audience is not appId.")
    if not same(text(claims, "iss"), text(metadata, "issuer")):
        raise Unauthenticated("The bearer token has another issuer than the Bot Framework.")
    expires = _seconds(claims.get("exp"))
    begins = _seconds(claims["nbf"]) if "nbf" in claims else float("-inf")
    if expires is None or begins is None or now >= expires + LEEWAY or now < begins - LEEWAY:
        raise Unauthenticated("The bearer token is not valid now: it has ended or not begun.")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
