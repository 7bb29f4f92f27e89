"""Signed tokens: HMAC-SHA256 under a key derived from the encryption keys, for one purpose each."""

import base64
import binascii
import hashlib
import hmac
import json
from datetime import datetime

from ports.files import SharedFile

SIGNATURE = 32


class Signer:
    """`ports.conversations.TokenSigner`. Signs with the first key, takes any, as `ConfigCipher` does."""

    def __init__(self, keys: str, purpose: bytes) -> None:
        self._keys = [
            hmac.digest(key.encode(), purpose, hashlib.sha256)
            for key in filter(None, map(str.strip, keys.split(",")))
        ]

    def sign(self, payload: bytes) -> str:
        return _encoded(hmac.digest(self._keys[0], payload, hashlib.sha256) + payload)

    def read(self, token: str) -> bytes | None:
        """The payload; None for a token that is forged, or written in another way than `sign` does."""
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        if _encoded(raw) != token:
            return None
        signature, payload = raw[:SIGNATURE], raw[SIGNATURE:]
        good = [
            hmac.compare_digest(signature, hmac.digest(key, payload, hashlib.sha256)) for key in self._keys
        ]
        return payload if any(good) else None


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


PURPOSE = b"switchboard: addresses of files"


class SignedTokens:
    """`ports.files.FileTokens`: tokens for the addresses of files."""

    def __init__(self, keys: str) -> None:
        self._signer = Signer(keys, PURPOSE)

    def sign(self, file: SharedFile, until: datetime) -> str:
        record = [] if file.record is None else [file.record]
        content = [file.blob, file.name, file.mime_type, int(until.timestamp()), *record]
        return self._signer.sign(json.dumps(content, separators=(",", ":")).encode())

    def read(self, token: str, now: datetime) -> SharedFile | None:
        payload = self._signer.read(token)
        if payload is None:
            return None
        blob, name, mime_type, until, *record = json.loads(payload)
        return SharedFile(blob, name, mime_type, *record) if now.timestamp() < until else None
