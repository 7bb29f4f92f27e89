"""The system's clock and its cryptographic source of randomness."""

import hashlib
import os
import random
import secrets
import time
import uuid
from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class SteadyClock:
    """For durations: the system's time when it was made, and from there on in even steps, whatever is done to the
    system's clock."""

    def __init__(self) -> None:
        self._start = time.time() - time.monotonic()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._start + time.monotonic(), UTC)


_OF_URLS = hashlib.sha1(uuid.NAMESPACE_URL.bytes, usedforsecurity=False)


def new_uuid() -> str:
    """A random UUID in its canonical form (RFC 9562, version 4), in a third of the time that `uuid` takes."""
    return _canonical(os.urandom(16).hex(), 4)


def url_uuid(name: str) -> str:
    """`uuid.uuid5` of a name among URLs, in a fifth of the time."""
    hashed = _OF_URLS.copy()
    hashed.update(name.encode())
    return _canonical(hashed.hexdigest(), 5)


def _canonical(digits: str, version: int) -> str:
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-{version}{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


class RandomIds:
    def request_id(self) -> str:
        return new_uuid()

    def token(self, nbytes: int = 32) -> str:
        return secrets.token_urlsafe(nbytes)

    def digits(self, count: int) -> str:
        return "".join(secrets.choice("0123456789") for _ in range(count))

    def chance(self) -> float:
        return random.random()  # noqa: S311 - jitter, not a secret
