"""Outbound messages, and limits that workers share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import DeliveryStatus, Target
from domain.delivery.model import OpenBreaker, SharedState
from domain.instances.model import Delivery
from domain.paging import Slice
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


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that the platform took, and the id that the platform gave it."""

    message: OutboundMessage
    target: Target
    ref: str


class Outbox(Protocol):
    """Outbound messages, in order within a conversation."""

    async def lease(self, capacity: Capacity) -> Leases[QueuedMessages]: ...

    async def sent(self, key: QueueKey, message: QueuedMessage, ref: str, *, last: bool) -> None:
        """The platform took the message. `last` releases the queue."""

    async def retry(self, key: QueueKey, message: QueuedMessage, error: str, delay: float) -> None:
        """The message is sent again after `delay` seconds; the queue is released until then."""

    async def dead(self, key: QueueKey, message: QueuedMessage, error: str, *, last: bool) -> None:
        """The message is given up, and kept as a dead letter."""

    async def release(self, key: QueueKey, delay: float = 0.0) -> None: ...

    async def record_status(self, instance_id: int, status: DeliveryStatus) -> bool:
        """Stores what the platform said later of a message. Whether one that counted as sent is a dead letter by
        it."""

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentMessage]:
        """The messages with buttons that asked, in answer to an event, the last one first."""

    async def list(
        self, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Slice[Delivery]: ...

    async def replay(self, instance_id: int, message_id: int) -> bool | None:
        """Sends a dead letter again. None when there is no such message, False when it is no dead letter."""

    async def drop(self, instance_id: int, message_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A stored session: the target of messages to it, for how long the person has been silent, the name by which the
    platform knows them, and the user who has the conversation."""

    target: Target | None
    silence: timedelta | None
    name: str = ""
    held_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSend:
    """A rendered message under an id of `SendStore.next_id`. `idempotency_key` is empty for none; `digest` tells
    messages with the same key apart. `numbered`: it offers choices that are typed. `taken_by`: the user who takes the
    conversation over with it; None if it stays with whoever has it. `forced`: also from another user. `user_id`:
    who sends it, None for a resource."""

    id: int
    instance_id: int
    session_id: str
    answer: Answer
    target: Target
    messages: Sequence[OutboundMessage]
    idempotency_key: str = ""
    digest: str = ""
    numbered: bool = False
    taken_by: str | None = None
    user_id: str | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True)
class StoredSend:
    """A message on record; `digest` is empty where its content has been erased."""

    id: int
    session_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Another user has the conversation, until a time."""

    user_id: str
    until: datetime


class SendStore(Protocol):
    async def session(self, instance_id: int, session_id: str) -> KnownSession: ...

    async def repeated(self, instance_id: int, idempotency_key: str) -> StoredSend | None:
        """The message that was stored with this key within the last 24 hours."""

    async def next_id(self) -> int:
        """An id for a message that is about to be stored, which no other message gets."""

    async def add(self, send: NewSend) -> StoredSend | HeldBy | None:
        """Stores a message with its outbound messages in one transaction, or returns the one that has its key. None
        if the instance was removed."""


class SharedLimits(Protocol):
    """Keys are short and hold no secret. Raises `Unavailable`."""

    async def state(self) -> SharedState: ...

    async def reserve(self, key: str, interval: float, burst: int, max_wait: float) -> float:
        """Reserves the next slot of a key, one every `interval` seconds after a `burst`.

        Seconds until that slot; over `max_wait` nothing is reserved.
        """

    async def cool_down(self, key: str, seconds: float) -> None:
        """Nothing is sent for so long under this key; a longer cooldown stays."""

    async def open_breaker(self, breaker: OpenBreaker, reason: str) -> None: ...

    async def close_breaker(self, instance_id: int) -> None: ...

    async def remove_expired(self) -> None: ...
