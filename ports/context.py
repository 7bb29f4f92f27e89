"""What was said before a message: stored, or read from the platform."""

from typing import Protocol

from domain.channels.messages import Quoted


class EarlierMessages(Protocol):
    """Messages of an instance that are stored."""

    async def find(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        """The message with that id: one that was sent, or one that was received."""
        ...

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        """Whether nothing was sent or received in the session before that event."""
        ...
