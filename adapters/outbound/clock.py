"""The system's clock and its cryptographic source of randomness."""

from __future__ import annotations

import random
import secrets
import uuid
from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    def request_id(self) -> str:
        return str(uuid.uuid4())

    def token(self, nbytes: int = 32) -> str:
        return secrets.token_urlsafe(nbytes)

    def digits(self, count: int) -> str:
        return "".join(secrets.choice("0123456789") for _ in range(count))

    def chance(self) -> float:
        return random.random()  # noqa: S311 - jitter, not a secret
