"""The system's clock and its cryptographic source of randomness."""

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


class RandomIds:
    def request_id(self) -> str:
        return str(uuid.uuid4())

    def token(self, nbytes: int = 32) -> str:
        return secrets.token_urlsafe(nbytes)

    def digits(self, count: int) -> str:
        return "".join(secrets.choice("0123456789") for _ in range(count))

    def chance(self) -> float:
        return random.random()  # noqa: S311 - jitter, not a secret
