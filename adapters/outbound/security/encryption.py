"""Encryption at rest with PyNaCl's SecretBox (XSalsa20-Poly1305), with key rotation."""

from __future__ import annotations

import base64
import binascii
import hashlib

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

FINGERPRINT = 4


class SealError(Exception):
    """A sealed value cannot be opened with the keys at hand, or a key is malformed."""


class ConfigCipher:
    """Seals with the first key, opens with any: put a new key in front to rotate.

    A key is 32 bytes in base64. A sealed value begins with the first four bytes of its key's SHA-256.
    """

    def __init__(self, keys: str) -> None:
        raw = [_decode(key.strip()) for key in keys.split(",") if key.strip()]
        if not raw:
            raise SealError("CONFIG_ENCRYPTION_KEY is empty; make one with: openssl rand -base64 32")
        self._boxes = {hashlib.sha256(key).digest()[:FINGERPRINT]: SecretBox(key) for key in raw}
        self._current = next(iter(self._boxes))

    def seal(self, text: str) -> bytes:
        return self._current + bytes(self._boxes[self._current].encrypt(text.encode()))

    def open(self, sealed: bytes) -> str:
        """Raises `SealError` when none of the keys fits."""
        box = self._boxes.get(bytes(sealed[:FINGERPRINT]))
        if box is None:
            raise SealError("a stored value was sealed with a key that CONFIG_ENCRYPTION_KEY does not list")
        try:
            return box.decrypt(bytes(sealed[FINGERPRINT:])).decode()
        except CryptoError as error:
            raise SealError("a stored value was damaged or sealed with another key") from error

    def knows(self, sealed: bytes) -> bool:
        """Whether the value, or its first four bytes, names a key that is at hand."""
        return bytes(sealed[:FINGERPRINT]) in self._boxes

    def is_current(self, sealed: bytes) -> bool:
        """Whether the value was sealed with the first key."""
        return bytes(sealed[:FINGERPRINT]) == self._current


def new_key() -> str:
    """A fresh key in base64."""
    return base64.b64encode(random(SecretBox.KEY_SIZE)).decode()


def _decode(key: str) -> bytes:
    try:
        raw = base64.b64decode(key.replace("-", "+").replace("_", "/") + "=" * (-len(key) % 4), validate=True)
    except binascii.Error:
        raw = b""
    if len(raw) != SecretBox.KEY_SIZE:
        raise SealError(
            "CONFIG_ENCRYPTION_KEY must be 32 bytes in base64; make one with: openssl rand -base64 32"
        )
    return raw
