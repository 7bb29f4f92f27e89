"""What workers share of the limits of platforms, so that they keep them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """An instance to which nothing is sent for `seconds` more; 0 or less: a probe is due."""

    instance_id: int
    seconds: float
    openings: int


@dataclass(frozen=True, slots=True)
class SharedState:
    """What is held back at the moment, and by how many workers it is kept.

    `holds`: seconds left by key.
    """

    workers: int
    holds: Sequence[tuple[str, float]]
    breakers: Sequence[OpenBreaker]


class Pace(Protocol):
    """The shared side of limits. Keys are short and hold no secret. Raises `Unavailable`."""

    async def state(self) -> SharedState: ...

    async def reserve(self, key: str, interval: float, burst: int, patience: float) -> float:
        """Reserves the next turn of a key, one every `interval` seconds after a `burst`.

        Seconds until that turn; over `patience` nothing is reserved.
        """
        ...

    async def hold(self, key: str, seconds: float) -> None:
        """Nobody sends to what the key names for so long; a longer hold stays."""
        ...

    async def opened(self, breaker: OpenBreaker, reason: str) -> None: ...

    async def closed(self, instance_id: int) -> None: ...

    async def forget(self) -> None:
        """Throws away what has run out."""
        ...
