"""Outbound messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.channels.answers import OutboundMessage
from domain.channels.messages import DeliveryStatus, Target
from domain.instances.model import Deliveries
from domain.values import value
from ports.queue import Capacity, Leases, QueueKey


@value
class QueuedMessage:
    """A message to be sent. `key` is its idempotency key, the same at each try.

    `apology`: it tells the sender that the message failed.
    `unreadable` says why the stored message cannot be read: it can never be sent.
    `late`: it has been due for so long that nobody waits for it any more. `trace`: the traceparent of the work that
    made it; empty if it belongs to no trace.
    """

    id: int
    message: OutboundMessage
    target: Target
    key: str
    attempts: int
    apology: bool = False
    unreadable: str = ""
    late: bool = False
    trace: str = ""


@value
class QueuedMessages:
    key: QueueKey
    messages: Sequence[QueuedMessage] = field(default_factory=tuple)


class Outbox(Protocol):
    """Outbound messages, in order within a conversation."""

    async def lease(self, capacity: Capacity) -> Leases[QueuedMessages]: ...

    async def sent(self, key: QueueKey, message: QueuedMessage, ref: str, *, last: bool) -> None:
        """The platform took the message. `last` releases the queue."""
        ...

    async def retry(self, key: QueueKey, message: QueuedMessage, error: str, delay: float) -> None:
        """The message is sent again after `delay` seconds; the queue is released until then."""
        ...

    async def dead(self, key: QueueKey, message: QueuedMessage, error: str, *, last: bool) -> None:
        """The message is given up, and kept as a dead letter."""
        ...

    async def release(self, key: QueueKey, delay: float = 0.0) -> None: ...

    async def record_status(self, instance_id: int, status: DeliveryStatus) -> bool:
        """Stores what the platform said later of a message. Whether one that counted as sent is a dead letter by
        it."""
        ...

    async def drop(self, instance_id: int, message_id: int) -> bool: ...


class DeliveryStore(Protocol):
    """Outbound messages as the owner of an instance sees them."""

    async def list(self, instance_id: int, status: str | None, limit: int, offset: int) -> Deliveries: ...

    async def replay(self, instance_id: int, message_id: int) -> bool | None:
        """Sends a dead letter again. None when there is no such message, False when it is no dead letter."""
        ...

    async def drop(self, instance_id: int, message_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that the platform took, and the id that the platform gave it."""

    message: OutboundMessage
    target: Target
    ref: str


class Prompts(Protocol):
    """Questions with buttons that have been asked."""

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentMessage]:
        """The messages that asked, in answer to an event, the last one first."""
        ...
