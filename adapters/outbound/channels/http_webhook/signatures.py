"""Signatures of calls and answers: HMAC-SHA256 in hexadecimal, and Standard Webhooks besides.

Source of the second: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

from domain.refusals import Unauthenticated

HEADERS = ("x-webhook-signature", "x-hub-signature-256", "x-signature")
STANDARD_PREFIX = "whsec_"
TOLERANCE = 300
"""Seconds that the time of a Standard Webhooks signature may be off."""


class BadSecret(ValueError):
    """A secret that no Standard Webhooks signature can be made with. Configurations are checked for it since;
    one that was stored before may hold it."""


def prove(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
    """Raises `Unauthenticated` when no signature of the call is good."""
    expected = _hex(secret, body)
    given = [headers[name] for name in HEADERS if name in headers]
    if any(hmac.compare_digest(_normal(each), expected.encode()) for each in given):
        return
    if secret.startswith(STANDARD_PREFIX) and "webhook-signature" in headers:
        _prove_standard(secret, headers, body, now)
        return
    if given:
        raise Unauthenticated("the signature does not fit the body and webhookSecret")
    raise Unauthenticated("X-Webhook-Signature: is missing; this instance has a webhookSecret")


def _normal(signature: str) -> bytes:
    return signature.strip().lower().removeprefix("sha256=").encode("utf-8", "replace")


def _hex(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _prove_standard(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
    stamp = headers.get("webhook-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise Unauthenticated("webhook-timestamp: must be whole seconds since 1970")
    if abs(now.timestamp() - int(stamp)) > TOLERANCE:
        raise Unauthenticated("webhook-timestamp: is more than five minutes off; send the present time")
    try:
        expected = _standard(secret, headers.get("webhook-id", ""), stamp, body)
    except BadSecret as bad:
        raise Unauthenticated(str(bad)) from None
    given = [
        each.removeprefix("v1,") for each in headers["webhook-signature"].split() if each.startswith("v1,")
    ]
    if not any(hmac.compare_digest(each.encode("utf-8", "replace"), expected.encode()) for each in given):
        raise Unauthenticated("webhook-signature: does not fit the body and webhookSecret")


def _standard(secret: str, message_id: str, stamp: str, body: bytes) -> str:
    """Raises `BadSecret`."""
    try:
        key = base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True)
    except ValueError:  # binascii.Error is one
        raise BadSecret("webhookSecret: what follows whsec_ is not base64") from None
    signed = f"{message_id}.{stamp}.".encode("utf-8", "replace") + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def sign(secret: str, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that sign an answer. Raises `BadSecret`."""
    headers = {"X-Webhook-Signature": f"sha256={_hex(secret, body)}"}
    if secret.startswith(STANDARD_PREFIX):
        stamp = str(int(now.timestamp()))
        headers["webhook-id"] = message_id
        headers["webhook-timestamp"] = stamp
        headers["webhook-signature"] = f"v1,{_standard(secret, message_id, stamp, body)}"
    return headers
