"""Finding platform users by their verified identities."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from domain.channels.messages import Identity
from domain.confirmations.model import ApprovalResult as ApprovalResult
from domain.confirmations.model import ApprovalScope as ApprovalScope
from domain.confirmations.model import ClosedQuestion as OverPrompt
from domain.confirmations.model import Decision as Decision
from domain.confirmations.model import ReceivedText as ReceivedText
from ports.confirmations import Approvals as Approvals

__all__ = ["OverPrompt", "UserResolver"]


class UserResolver(Protocol):
    async def resolve(self, identities: Sequence[Identity]) -> str | None:
        """The user that one of these identities is verified for."""
        ...

    async def may_notice(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        """Whether a sender may be told now that only verified users are served: once in `every`. True counts as
        told."""
        ...


People = UserResolver
