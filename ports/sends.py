"""Messages that answer none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Target
from domain.conversations.model import Message, MessageId


@dataclass(frozen=True, slots=True)
class KnownSession:
    """What is on record of a session: where a message to it goes, and for how long the person has been silent."""

    target: Target | None
    silence: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSend:
    """A rendered message under an id of `SendStore.next_id`. `idempotency_key` is empty for none; `digest` tells
    messages with the same key apart. `numbered`: it offers choices that are typed. `taken_by`: the user who takes the
    conversation over with it; None if it stays with whoever has it."""

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


@dataclass(frozen=True, slots=True)
class StoredSend:
    """A message on record; `digest` is empty where its content has been erased."""

    id: int
    session_id: str
    digest: str


class SendStore(Protocol):
    async def session(self, instance_id: int, session_id: str) -> KnownSession: ...

    async def repeated(self, instance_id: int, idempotency_key: str) -> StoredSend | None:
        """The message that was stored with this key within the last 24 hours."""
        ...

    async def next_id(self) -> int:
        """An id for a message that is about to be stored, which no other message gets."""
        ...

    async def add(self, send: NewSend) -> StoredSend | None:
        """Stores a message with its outbound messages in one transaction, or finds the one that has its key.

        None where the instance was removed.
        """
        ...


class MessageStore(Protocol):
    async def find(self, instance_id: int, message_id: MessageId) -> Message | None: ...

    async def event(self, instance_id: int, inbox_id: int) -> Event | None:
        """What a platform sent; None for an event that was erased."""
        ...
