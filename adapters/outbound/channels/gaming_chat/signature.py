"""Discord's proof of origin: Ed25519 over the time stamp and the raw body. Pure.

https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
"""

from __future__ import annotations

from datetime import datetime

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from adapters.outbound.channels.common.bodies import text
from domain.channels.messages import Config, RawCall
from domain.refusals import Unauthenticated

WINDOW_SECONDS = 300


def proved(config: Config, call: RawCall, now: datetime) -> str | None:
    """The config field without which nothing can be proved, None when the call is proved.

    Raises `Unauthenticated` for a wrong signature, or one that is more than five minutes old.
    """
    key = text(config, "publicKey")
    if not key:
        return "publicKey"
    stamp = call.headers.get("x-signature-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise Unauthenticated("The header X-Signature-Timestamp is missing or no number of seconds.")
    if abs(now.timestamp() - int(stamp)) > WINDOW_SECONDS:
        raise Unauthenticated("The header X-Signature-Timestamp is more than five minutes off.")
    try:
        signature = bytes.fromhex(call.headers.get("x-signature-ed25519", ""))
        VerifyKey(bytes.fromhex(key)).verify(stamp.encode() + call.body, signature)
    except (ValueError, BadSignatureError):
        raise Unauthenticated("The header X-Signature-Ed25519 does not fit the body and publicKey.") from None
    return None
