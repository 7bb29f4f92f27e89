"""Approvals by users and teams."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.confirmations.requests import ApprovalRequest, ApprovalState


@dataclass(frozen=True, slots=True)
class LeasedApproval:
    """A decided request whose resource is to be told now. `begun`: an earlier process had begun to tell it."""

    request: ApprovalRequest
    begun: bool


class ApprovalStore(Protocol):
    """Each method raises `Unavailable`."""

    async def add(self, request: ApprovalRequest) -> ApprovalRequest | None:
        """Stores a request, and has its approvers notified, in one transaction. The run of a message asks once: a
        second request of it gives the first one. None: the message was erased, or the instance is gone."""

    async def find(self, approval_id: int) -> ApprovalRequest | None: ...

    async def list(
        self, approvers: Sequence[str] | None, state: ApprovalState | None, before: int | None, limit: int
    ) -> Sequence[ApprovalRequest]:
        """Those with ids below `before`, the latest first. `approvers`: as in a request, None for all."""

    async def decide(
        self, approval_id: int, decision: str, user_id: str, reason: str, now: datetime
    ) -> ApprovalRequest | None:
        """Stores the decision of a request that still waits, or whose time is over (then `user_id` is empty). None
        where it does not wait any more."""

    async def notified(self, approval_id: int) -> Sequence[str]:
        """The ids of the users that were told of a request."""

    async def expired(self, now: datetime) -> Sequence[ApprovalRequest]:
        """Some of the requests whose time is over and that nobody decided."""

    async def lease_decided(self, limit: int) -> Sequence[LeasedApproval]:
        """Decided requests whose resource was not told yet; each is this caller's for a minute."""

    async def begin(self, approval_id: int) -> None:
        """Notes that the resource hears of it now."""

    async def renew(self, approval_id: int) -> None:
        """Keeps a leased request for another minute."""

    async def finish(self, approval_id: int) -> None:
        """Notes that the sender was told."""
