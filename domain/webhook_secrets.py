"""Secrets of Standard Webhooks: `whsec_` and the key in base64. Pure.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64

STANDARD_PREFIX = "whsec_"


def is_standard(secret: str) -> bool:
    return secret.startswith(STANDARD_PREFIX)


def standard_key(secret: str) -> bytes | None:
    """The key in a secret; None where what follows `whsec_` is not base64 with its padding."""
    try:
        return base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True)
    except ValueError:  # binascii.Error is one
        return None


def standard_secret(key: bytes) -> str:
    return STANDARD_PREFIX + base64.b64encode(key).decode()
