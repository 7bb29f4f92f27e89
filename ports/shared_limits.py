"""What workers share of the limits of platforms, so that they keep them together."""

from typing import Protocol

from domain.delivery.model import OpenBreaker, SharedState


class SharedLimits(Protocol):
    """Keys are short and hold no secret. Raises `Unavailable`."""

    async def state(self) -> SharedState: ...

    async def reserve(self, key: str, interval: float, burst: int, max_wait: float) -> float:
        """Reserves the next slot of a key, one every `interval` seconds after a `burst`.

        Seconds until that slot; over `max_wait` nothing is reserved.
        """
        ...

    async def cool_down(self, key: str, seconds: float) -> None:
        """Nothing is sent for so long under this key; a longer cooldown stays."""
        ...

    async def open_breaker(self, breaker: OpenBreaker, reason: str) -> None: ...

    async def close_breaker(self, instance_id: int) -> None: ...

    async def remove_expired(self) -> None: ...
