"""Encryption at rest with PyNaCl's SecretBox (XSalsa20-Poly1305), with key rotation."""

import base64
import binascii
import hashlib

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

FINGERPRINT = 4


class DecryptionError(Exception):
    """An encrypted value cannot be decrypted with the keys at hand, or a key is malformed."""


class ConfigCipher:
    """Encrypts with the first key, decrypts with any: put a new key in front to rotate.

    A key is 32 bytes in base64. An encrypted value begins with the first four bytes of its key's SHA-256.
    """

    def __init__(self, keys: str) -> None:
        raw = []
        for key in filter(None, map(str.strip, keys.split(","))):
            padded = key.replace("-", "+").replace("_", "/") + "=" * (-len(key) % 4)
            try:
                raw.append(base64.b64decode(padded, validate=True))
            except binascii.Error:
                raw.append(b"")
            if len(raw[-1]) != SecretBox.KEY_SIZE:
                raise DecryptionError(
                    "CONFIG_ENCRYPTION_KEY must be 32 bytes in base64; make one with: openssl rand -base64 32"
                )
        if not raw:
            raise DecryptionError("CONFIG_ENCRYPTION_KEY is empty; make one with: openssl rand -base64 32")
        self._keys = {hashlib.sha256(key).digest()[:FINGERPRINT]: SecretBox(key) for key in raw}
        self._current = next(iter(self._keys))

    @property
    def fingerprints(self) -> list[str]:
        """Of all keys, the first one's in front; they tell nothing about the keys."""
        return [fingerprint.hex() for fingerprint in self._keys]

    def encrypt(self, text: str) -> bytes:
        return self._current + bytes(self._keys[self._current].encrypt(text.encode()))

    def decrypt(self, encrypted: bytes) -> str:
        """Raises `DecryptionError` when none of the keys fits."""
        key = self._keys.get(bytes(encrypted[:FINGERPRINT]))
        if key is None:
            raise DecryptionError(
                "a stored value was encrypted with a key that CONFIG_ENCRYPTION_KEY does not list"
            )
        try:
            return key.decrypt(bytes(encrypted[FINGERPRINT:])).decode()
        except CryptoError as error:
            raise DecryptionError("a stored value was damaged or encrypted with another key") from error

    def knows(self, encrypted: bytes) -> bool:
        """Return True if the value, or its first four bytes, names one of the keys."""
        return bytes(encrypted[:FINGERPRINT]) in self._keys

    def is_current(self, encrypted: bytes) -> bool:
        """Return True if the value was encrypted with the first key."""
        return bytes(encrypted[:FINGERPRINT]) == self._current


def new_key() -> str:
    """A fresh key in base64."""
    return base64.b64encode(random(SecretBox.KEY_SIZE)).decode()
