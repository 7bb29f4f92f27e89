"""Where questions about tools are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from domain.confirmations.model import Pending, SessionState


class ConfirmationStore(Protocol):
    """One question for each (instance, session), and the tools approved for the session."""

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        """What is on record; tells that the session was heard of at `now`. Approvals of a session that was
        not heard of after `silent_since` are over."""
        ...

    async def put(self, instance_id: int, session_id: str, pending: Pending) -> None:
        """Keeps a question in place of an older one."""
        ...

    async def decide(
        self, instance_id: int, session_id: str, pending: Pending, decision: str, event_id: int, now: datetime
    ) -> bool:
        """Decides a question that is still open, in one statement; False when it is not."""
        ...

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        """True for one caller alone: the one that may have the approved tool run."""
        ...

    async def clear(self, instance_id: int, session_id: str, confirmation_id: str) -> None:
        """Removes a question."""
        ...

    async def expire(self, now: datetime, silent_since: datetime) -> int:
        """Removes what is over, in all sessions; how much."""
        ...
