"""Who is writing, and what they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from domain.channels.messages import Choice, Identity


class People(Protocol):
    """Finds platform users by their verified external identities."""

    async def resolve(self, identities: Sequence[Identity]) -> str | None:
        """The user that one of these identities is verified for."""
        ...

    async def may_notice(self, instance_id: int, external_id: str) -> bool:
        """Whether a sender may be told now that it is not served: at most once in 24 hours."""
        ...


@dataclass(frozen=True, slots=True)
class Asker:
    """Who is asked, and where: a confirmation is decided by this sender in this session alone."""

    instance_id: int
    session_id: str
    external_id: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the sender is asked: text, and choices for channels with buttons.

    The values of the choices begin with `domain.confirmations.choices.PREFIX`.
    """

    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """How a pending confirmation was decided. `original` is the text of the message that led to it."""

    confirmation_id: str
    tool: str
    decision: str


class Approvals(Protocol):
    """Pending tool confirmations (interface 2.7, 3.3)."""

    async def decide(self, asker: Asker, text: str, choice: str | None) -> Decision | None:
        """What this message decides; None when it decides nothing (a pending one of this asker is cleared)."""
        ...

    async def ask(self, asker: Asker, tool: str, parameters: Mapping[str, Any]) -> Prompt:
        """Makes the pending confirmation of a session, replacing an older one."""
        ...

    async def approved_tools(self, asker: Asker) -> Sequence[str]:
        """Tools approved for the whole session."""
        ...
