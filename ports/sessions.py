"""What is on record of sessions."""

from dataclasses import dataclass
from typing import Protocol

from domain.channels.messages import SessionAlias
from ports.inbox import QueuedEvent
from ports.queue import QueueKey


class Sessions(Protocol):
    """What is on record of sessions."""

    async def rename(self, instance_id: int, previous: str, current: str) -> None:
        """The session's history, question, approvals, aliases and handler belong to another session from now on."""
        ...

    async def add_alias(self, instance_id: int, alias: SessionAlias) -> bool:
        """Whether the alias is new, or that of another session until now."""
        ...

    async def of_alias(self, instance_id: int, alias: str) -> str | None:
        """The id of the session that has the alias."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """How many rounds a conversation has had lately, the counted event included; `echo` as in `Accepted`."""

    count: int
    echo: bool


class Rounds(Protocol):
    """Counts how often we and a machine answered each other. See `domain.routing.model`."""

    async def count(self, key: QueueKey, queued: QueuedEvent, most: int, window: float) -> Round:
        """Counts an event of a leased conversation that no person is known to have caused, once.

        Over `most` rounds within `window` seconds the count stays until so long a time passes without an event. Of
        an event with a correspondent the larger count holds: of the conversation, or of all with the correspondent.
        """
        ...

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        """An event of a conversation with the correspondent got a reply."""
        ...
