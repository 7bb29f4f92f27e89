"""Signed tokens for the addresses of files: HMAC-SHA256 under a key derived from the encryption keys."""

import base64
import binascii
import hashlib
import hmac
import json
from datetime import datetime

from ports.files import SharedFile

PURPOSE = b"switchboard: addresses of files"
SIGNATURE = 32


class SignedTokens:
    """`ports.files.FileTokens`. Signs with the first key, takes any, as `ConfigCipher` does."""

    def __init__(self, keys: str) -> None:
        given = [key.strip().encode() for key in keys.split(",") if key.strip()]
        self._keys = [hmac.digest(key, PURPOSE, hashlib.sha256) for key in given]

    def sign(self, file: SharedFile, until: datetime) -> str:
        content = [file.blob, file.name, file.mime_type, int(until.timestamp())]
        payload = json.dumps(content, separators=(",", ":")).encode()
        signature = hmac.digest(self._keys[0], payload, hashlib.sha256)
        return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()

    def read(self, token: str, now: datetime) -> SharedFile | None:
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        signature, payload = raw[:SIGNATURE], raw[SIGNATURE:]
        good = [
            hmac.compare_digest(signature, hmac.digest(key, payload, hashlib.sha256)) for key in self._keys
        ]
        if not any(good):
            return None
        blob, name, mime_type, until = json.loads(payload)
        return SharedFile(blob, name, mime_type) if now.timestamp() < until else None
