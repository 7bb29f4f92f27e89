"""People who want no more messages, by a word of their carrier."""

from typing import Protocol

from domain.channels.messages import OptOut
from ports.queue import QueueKey


class OptOuts(Protocol):
    """What people have chosen, for each session of an instance; it outlives the conversation."""

    async def record(self, instance_id: int, opt_out: OptOut) -> None: ...

    async def is_opted_out(self, instance_id: int, session_id: str) -> bool: ...

    async def holds(self, key: QueueKey) -> bool:
        """Whether the person of a conversation has opted out."""
        ...
