"""Signatures of calls and answers: HMAC-SHA256 in hexadecimal, and Standard Webhooks besides.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from datetime import datetime

from adapters.outbound.channels.common.bodies import same
from adapters.outbound.channels.common.calls import signature, signed_at
from domain.channels.messages import RawCall
from domain.instances.validation import text_fault
from domain.refusals import Unauthenticated

HEADERS = ("x-webhook-signature", "x-hub-signature-256", "x-signature")
STANDARD_PREFIX = "whsec_"


class BadSecret(ValueError):
    """The secret cannot make Standard Webhooks signatures: it was stored before configurations were checked."""


def secret_fault(secret: str) -> str | None:
    """What is wrong with a configured secret: what follows whsec_ must be the key in base64."""
    if not secret.startswith(STANDARD_PREFIX):
        return text_fault(secret)
    try:
        good = bool(base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True))
    except ValueError:  # binascii.Error is one
        good = False
    return None if good else "begins with whsec_, so what follows must be a key in base64, with its padding"


def verify(secret: str, call: RawCall, now: datetime) -> None:
    """Raises `Unauthenticated` when no signature of the call is good."""
    expected = signature(secret, call.body)
    given = [call.headers[name] for name in HEADERS if name in call.headers]
    if any(same(f"sha256={value.strip().lower().removeprefix('sha256=')}", expected) for value in given):
        return
    if secret.startswith(STANDARD_PREFIX) and "webhook-signature" in call.headers:
        _verify_standard(secret, call, now)
    elif given:
        raise Unauthenticated("the signature does not fit the body and webhookSecret")
    else:
        raise Unauthenticated("X-Webhook-Signature: is missing; this instance has a webhookSecret")


def _verify_standard(secret: str, call: RawCall, now: datetime) -> None:
    seconds = signed_at(call, "webhook-timestamp", now)
    try:
        expected = _standard(secret, call.headers.get("webhook-id", ""), seconds, call.body)
    except BadSecret as error:
        raise Unauthenticated(str(error)) from None
    if not any(same(value, expected) for value in call.headers["webhook-signature"].split()):
        raise Unauthenticated("webhook-signature: does not fit the body and webhookSecret")


def sign(secret: str, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that sign an answer. Raises `BadSecret`."""
    headers = {"X-Webhook-Signature": signature(secret, body)}
    if secret.startswith(STANDARD_PREFIX):
        seconds = str(int(now.timestamp()))
        headers |= {
            "webhook-id": message_id,
            "webhook-timestamp": seconds,
            "webhook-signature": _standard(secret, message_id, seconds, body),
        }
    return headers


def _standard(secret: str, message_id: str, seconds: str, body: bytes) -> str:
    """Raises `BadSecret`."""
    try:
        key = base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True)
    except ValueError:  # binascii.Error is one
        raise BadSecret("webhookSecret: what follows whsec_ is not base64") from None
    signed = f"{message_id}.{seconds}.".encode("utf-8", "replace") + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
