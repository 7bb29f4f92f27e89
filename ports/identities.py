"""Finding platform users by their verified identities."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from domain.channels.messages import Identity


class UserResolver(Protocol):
    async def resolve(self, identities: Sequence[Identity], only_user: str | None) -> str | None:
        """The user that one of these identities is verified for; with `only_user` that user, or nobody."""
        ...

    async def may_notify(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        """Whether a sender may be told now that only verified users are served: once in `every`. True counts as
        told."""
        ...
