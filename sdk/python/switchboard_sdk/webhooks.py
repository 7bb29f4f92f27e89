"""Events that Switchboard pushes to an address: their signature, by Standard Webhooks."""

import base64
import binascii
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from switchboard_sdk.events import Event

TOLERANCE_SECONDS = 300


class BadSignature(ValueError):
    """The push is not from the holder of the secret, or too old."""


def verify_push(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
    """The event of a push. `secret`: that of the subscription, `whsec_...`. Raises `BadSignature`.

    Pushes are repeated until they are answered with 2xx: drop an event whose `id` you have seen.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    stamp, signatures = fields.get("webhook-timestamp", ""), fields.get("webhook-signature", "").split()
    seconds = time.time() if now is None else now
    if not stamp.isdecimal() or abs(seconds - int(stamp[:18])) > TOLERANCE_SECONDS:
        raise BadSignature("webhook-timestamp is missing, or over five minutes away from this machine's time")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("secret is not whsec_ and base64") from None
    signed = f"{fields.get('webhook-id', '')}.{stamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures):
        raise BadSignature("webhook-signature does not fit the body")
    return cast(Event, json.loads(body))
