"""Finding platform users by their verified identities."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from domain.channels.messages import Identity


class UserResolver(Protocol):
    async def resolve(self, identities: Sequence[Identity]) -> str | None:
        """The user that one of these identities is verified for."""
        ...

    async def may_notify(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        """Whether a sender may be told now that only verified users are served: once in `every`. True counts as
        told."""
        ...
