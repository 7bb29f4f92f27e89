"""Time, identity and chance, as ports: the domain asks for them and never makes them itself."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class Ids(Protocol):
    def request_id(self) -> str:
        """A new UUID (version 4) in its canonical form."""
        ...

    def token(self, nbytes: int = 32) -> str:
        """A new URL-safe secret of `nbytes` random bytes, from a cryptographic source."""
        ...

    def digits(self, count: int) -> str:
        """`count` random decimal digits, from a cryptographic source."""
        ...

    def chance(self) -> float:
        """A random number in [0, 1), for jitter."""
        ...
