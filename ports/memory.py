"""The memory service, which may hold nodes made from knowledge bases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class MemoryRefused(Exception):
    """The memory service did not acknowledge; the message says why and holds no secret."""


class MemoryNodes(Protocol):
    async def delete(self, base_id: int) -> None:
        """Deletes the nodes of a knowledge base. Raises `MemoryRefused` unless that is acknowledged."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryTask:
    """Nodes to delete; `attempts` counts the tries so far."""

    base_id: int
    attempts: int


class MemoryTasks(Protocol):
    """What is still to be deleted; durable."""

    async def due(self, limit: int) -> Sequence[MemoryTask]:
        """Takes tasks that are due; they are due again after a while unless they are done by then."""
        ...

    async def done(self, base_id: int) -> None: ...

    async def later(self, base_id: int, seconds: float, error: str) -> None: ...
