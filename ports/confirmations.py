"""Where questions about tools are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from domain.confirmations.model import FoundQuestion, Pending, SessionState


class ConfirmationStore(Protocol):
    """One open question for each (instance, session), the tools approved for the session, and for a while the
    questions that are over."""

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        """What is on record; tells that the session was heard of at `now`. Approvals of a session that was
        not heard of after `silent_since` are over."""
        ...

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        """The question with this nonce, of whatever instance and session; None when there is none on record."""
        ...

    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        """Keeps a question in place of an older one. The older one where nobody had decided it."""
        ...

    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        """Puts on record how a question that is still open was decided, in one statement; False when it is not
        open. `decided` holds the decision, its event and who decided."""
        ...

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        """True for one caller alone: the one that may have the approved tool run."""
        ...

    async def close(self, instance_id: int, confirmation_id: str, now: datetime) -> None:
        """Ends a question: its session has none from now on."""
        ...

    async def expire(self, now: datetime, silent_since: datetime, kept_since: datetime) -> int:
        """Ends the questions that have expired and the approvals of silent sessions, and removes questions that
        ended before `kept_since`, in all sessions; how many of all these."""
        ...
