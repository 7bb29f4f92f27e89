"""Signatures of Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from datetime import datetime

from domain.subscriptions.model import standard_key


class BadSecret(ValueError):
    """The secret cannot make Standard Webhooks signatures: it was stored before configurations were checked."""


def standard_headers(secret: str, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that sign a message. Raises `BadSecret`."""
    seconds = str(int(now.timestamp()))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": standard_signature(secret, message_id, seconds, body),
    }


def standard_signature(secret: str, message_id: str, seconds: str, body: bytes) -> str:
    """The value of `webhook-signature`. Raises `BadSecret`."""
    key = standard_key(secret)
    if key is None:
        raise BadSecret("the secret: what follows whsec_ is not base64")
    signed = f"{message_id}.{seconds}.".encode("utf-8", "replace") + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
