"""Signatures of calls and answers: HMAC-SHA256 in hexadecimal, and Standard Webhooks besides.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from datetime import datetime

from adapters.outbound.channels.common.bodies import same
from adapters.outbound.channels.common.calls import signature, signed_at
from adapters.outbound.channels.common.standard_webhooks import (
    BadSecret,
    standard_headers,
    standard_signature,
)
from domain.channels.messages import RawCall
from domain.instances.validation import text_fault
from domain.refusals import Unauthenticated
from domain.subscriptions.model import is_standard, standard_key

HEADERS = ("x-webhook-signature", "x-hub-signature-256", "x-signature")


def secret_fault(secret: str) -> str | None:
    """What is wrong with a configured secret: what follows whsec_ must be the key in base64."""
    if not is_standard(secret):
        return text_fault(secret)
    if standard_key(secret):
        return None
    return "begins with whsec_, so what follows must be a key in base64, with its padding"


def verify(secret: str, call: RawCall, now: datetime) -> None:
    """Raises `Unauthenticated` when no signature of the call is good."""
    expected = signature(secret, call.body)
    given = [call.headers[name] for name in HEADERS if name in call.headers]
    if any(same(f"sha256={value.strip().lower().removeprefix('sha256=')}", expected) for value in given):
        return
    if is_standard(secret) and "webhook-signature" in call.headers:
        _verify_standard(secret, call, now)
    elif given:
        raise Unauthenticated("the signature does not fit the body and webhookSecret")
    else:
        raise Unauthenticated("X-Webhook-Signature: is missing; this instance has a webhookSecret")


def _verify_standard(secret: str, call: RawCall, now: datetime) -> None:
    seconds = signed_at(call, "webhook-timestamp", now)
    try:
        expected = standard_signature(secret, call.headers.get("webhook-id", ""), seconds, call.body)
    except BadSecret as error:
        raise Unauthenticated(str(error)) from None
    if not any(same(value, expected) for value in call.headers["webhook-signature"].split()):
        raise Unauthenticated("webhook-signature: does not fit the body and webhookSecret")


def sign(secret: str, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that sign an answer. Raises `BadSecret`."""
    headers = {"X-Webhook-Signature": signature(secret, body)}
    return headers | standard_headers(secret, message_id, body, now) if is_standard(secret) else headers
