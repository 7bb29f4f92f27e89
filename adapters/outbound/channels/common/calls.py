"""Calls from platforms: the callback's name, the time of a signature, answers in JSON."""

import hashlib
import hmac
from datetime import datetime
from typing import Any

import orjson

from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import NotFound, Unauthenticated

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


def signature(secret: str, body: bytes) -> str:
    """The signature of a body as several platforms write it: 'sha256=' and an HMAC-SHA256 in hex."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def json_answer(body: Any, status: int = 200) -> RawAnswer:
    """An answer whose body is JSON."""
    return RawAnswer(status, orjson.dumps(body), {"content-type": "application/json"})
