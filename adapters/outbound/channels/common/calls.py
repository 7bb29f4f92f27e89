"""Calls from platforms: the callback's name, the time of a signature, results and answers; Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import json
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson

from domain.channels.messages import TAKEN, Event, RawAnswer, RawCall, Received
from domain.refusals import NotFound, Unauthenticated
from domain.subscriptions.model import standard_key

SIGNATURE_SECONDS = 300


def require_webhook(call: RawCall) -> None:
    """Raises `NotFound` for any callback but 'webhook'."""
    if call.callback != "webhook":
        raise NotFound(f"There is no callback '{call.callback}' on this channel; use 'webhook'.")


def signed_at(call: RawCall, header: str, now: datetime) -> str:
    """The seconds since 1970 in a header, at most five minutes off `now`. Raises `Unauthenticated`."""
    seconds = call.headers.get(header.lower(), "")
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):
        raise Unauthenticated(f"The header {header} is missing or no number of seconds.")
    if abs(now.timestamp() - int(seconds)) > SIGNATURE_SECONDS:
        raise Unauthenticated(f"The header {header} is more than five minutes off.")
    return seconds


def signature(secret: str, body: bytes, prefix: str = "sha256=") -> str:
    """The signature of a body as several platforms write it: a prefix and an HMAC-SHA256 in hex."""
    return prefix + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def received(event: Event | str, kind: str = "message", answer: RawAnswer = TAKEN) -> Received:
    """The result of a call with one message: its event, or the reason why it is ignored."""
    if isinstance(event, str):
        return Received(answer, kind=f"ignored:{event}")
    return Received(answer, (event,), kind=f"ignored:{event.refused}" if event.refused else kind)


def json_answer(body: Any, status: int = 200, **headers: str) -> RawAnswer:
    return RawAnswer(status, json_bytes(body), {"content-type": "application/json", **headers})


def json_bytes(body: Any) -> bytes:
    with suppress(orjson.JSONEncodeError):  # integers over 64 bits, lone surrogates
        return orjson.dumps(body)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


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
