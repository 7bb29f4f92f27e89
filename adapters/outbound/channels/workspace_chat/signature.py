"""Slack's proof of origin (https://docs.slack.dev/authentication/verifying-requests-from-slack/). Pure."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

from adapters.outbound.channels.common.bodies import same, text
from domain.channels.messages import Config, RawCall
from domain.refusals import Unauthenticated

WINDOW_SECONDS = 300


def prove(config: Config, call: RawCall, now: datetime) -> None:
    """Raises `Unauthenticated` unless the call was signed with signingSecret within five minutes."""
    stamp = call.headers.get("x-slack-request-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise Unauthenticated("The header X-Slack-Request-Timestamp is missing or no number of seconds.")
    if abs(now.timestamp() - int(stamp)) > WINDOW_SECONDS:
        raise Unauthenticated("The header X-Slack-Request-Timestamp is more than five minutes off.")
    secret = text(config, "signingSecret")
    if not secret or not same(call.headers.get("x-slack-signature", ""), sign(secret, stamp, call.body)):
        raise Unauthenticated("The header X-Slack-Signature does not fit the body and signingSecret.")


def sign(secret: str, stamp: str, body: bytes) -> str:
    """The signature of a body: 'v0=' and an HMAC-SHA256 in hex."""
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"
