"""Reads what the WhatsApp Cloud API posts.

https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks. Pure.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, json_object, same, text
from domain.channels.messages import (
    Config,
    DeliveryStatus,
    Event,
    RawAnswer,
    RawCall,
    Received,
    SessionRename,
)
from domain.refusals import Forbidden, NotFound, Unauthenticated

from .changes import moves_of
from .messages import Skipped, read_message

_FIELDS = ("", "messages", "user_id_update")
_UNTOLD = "ignored:other"


def receive(config: Config, call: RawCall) -> Received:
    """Answers the subscription challenge (GET), or proves and reads a notification."""
    if call.callback != "webhook":
        raise NotFound(f"There is no callback '{call.callback}' on this channel; use 'webhook'.")
    if call.method.upper() in ("GET", "HEAD"):
        return _challenged(config, call)
    missing_proof_field = _proved(config, call)
    events, receipts, moves, kinds = _read(config, json_object(call.body))
    told = (("message", events), ("status", receipts), ("move", moves), (next(iter(kinds), _UNTOLD), True))
    kind = next(name for name, there in told if there)
    return Received(
        events=events, receipts=receipts, moves=moves, kind=kind, missing_proof_field=missing_proof_field
    )


def _challenged(config: Config, call: RawCall) -> Received:
    query = call.query
    token = text(config, "webhookVerifyToken")
    if query.get("hub.mode") != "subscribe" or not same(query.get("hub.verify_token", ""), token):
        raise Forbidden(
            "hub.mode or hub.verify_token is wrong: it must be webhookVerifyToken of the instance."
        )
    challenge = query.get("hub.challenge", "").encode()
    return Received(
        RawAnswer(200, challenge, {"content-type": "text/plain; charset=utf-8"}), kind="challenge"
    )


def _proved(config: Config, call: RawCall) -> str | None:
    """The config field without which nothing can be proved, None when the call is proved."""
    secret = text(config, "appSecret")
    if not secret:
        return "appSecret"
    if not same(call.headers.get("x-hub-signature-256", ""), sign(secret, call.body)):
        raise Unauthenticated("The header X-Hub-Signature-256 does not fit the body and appSecret.")
    return None


def sign(secret: str, body: bytes) -> str:
    """The signature of a body: 'sha256=' and an HMAC-SHA256 in hex."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _read(
    config: Config, body: Mapping[str, Any]
) -> tuple[tuple[Event, ...], tuple[DeliveryStatus, ...], tuple[SessionRename, ...], list[str]]:
    """One notification holds any number of entries, changes, messages and statuses."""
    events: list[Event] = []
    receipts: list[DeliveryStatus] = []
    moves: list[SessionRename] = []
    skipped: list[str] = []
    for value in _values(config, body):
        for message in items(value, "messages"):
            read = read_message(message, value)
            if isinstance(read, Skipped):
                skipped.append(f"ignored:{read.reason}")
            else:
                events.append(read)
        receipts += filter(None, (_receipt(each) for each in items(value, "statuses")))
        moves += moves_of(value)
    return tuple(events), tuple(receipts), tuple(moves), skipped


def _values(config: Config, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What happened at this instance's own number."""
    own = text(config, "phoneNumberId")
    for entry in items(body, "entry"):
        for change in items(entry, "changes"):
            value = at(change, "value")
            number = text(value, "metadata", "phone_number_id")
            if isinstance(value, dict) and number in ("", own) and text(change, "field") in _FIELDS:
                yield value


def _receipt(status: Any) -> DeliveryStatus | None:
    ref, state = text(status, "id"), text(status, "status")
    if not ref or not state:
        return None
    errors = [_error(each) for each in items(status, "errors")]
    return DeliveryStatus(
        ref,
        state,
        failed=state == "failed",
        detail="; ".join(filter(None, errors)),
        key=text(status, "biz_opaque_callback_data"),
    )


def _error(error: Any) -> str:
    words = text(error, "error_data", "details") or text(error, "message") or text(error, "title")
    return " ".join(filter(None, (text(error, "code"), words)))
