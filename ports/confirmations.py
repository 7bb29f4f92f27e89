"""Tool confirmations: asking for them, and where they are stored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from domain.confirmations.model import (
    ApprovalResult,
    ApprovalScope,
    Decision,
    FoundQuestion,
    Pending,
    Prompt,
    ReceivedText,
    SessionState,
)


class Approvals(Protocol):
    """Pending tool confirmations."""

    async def decide(self, scope: ApprovalScope, received: ReceivedText) -> ApprovalResult:
        """What this message decides; any other text of the sender who was asked clears the question.

        A button decides the question that it belongs to and no other."""
        ...

    async def begin(self, scope: ApprovalScope, decision: Decision) -> bool:
        """Whether the decision may be handed on now: an approval once, so that its tool never runs twice."""
        ...

    async def ask(
        self,
        scope: ApprovalScope,
        received: ReceivedText,
        original: str,
        tool: str,
        parameters: Mapping[str, object],
    ) -> Prompt:
        """Makes the pending confirmation of a session, replacing an older one."""
        ...


class ConfirmationStore(Protocol):
    """One open question for each (instance, session), the tools approved for the session, and for a while the
    closed questions."""

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        """The state of a session, and notes that it was active at `now`. Approvals of a session that was not active
        after `silent_since` are over."""
        ...

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        """The question with this nonce, of any instance and session; None when none is stored."""
        ...

    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        """Stores a question in place of an older one. Returns the older one if nobody had decided it."""
        ...

    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        """Stores the decision of a question that is still open, in one statement; False when it is not open.
        `decided` holds the decision, its event and who decided."""
        ...

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        """True for one caller only: the one that may have the approved tool run."""
        ...

    async def close(self, instance_id: int, confirmation_id: str, now: datetime) -> None:
        """Closes a question: its session has none from now on."""
        ...

    async def expire(self, now: datetime, silent_since: datetime, kept_since: datetime) -> int:
        """Closes the questions that have expired, ends the approvals of silent sessions, and removes questions that
        were closed before `kept_since`; how many of all these."""
        ...
