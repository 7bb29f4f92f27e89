"""Replies that messages have offered."""

from typing import Protocol

from domain.channels.messages import Event
from domain.conversations.choices import Offer
from domain.conversations.model import MessageId


class OfferStore(Protocol):
    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """What a message of this instance said and offered; None where it is not known, or not kept any more."""
        ...

    async def with_value(self, instance_id: int, session_id: str, value: str) -> MessageId | None:
        """The latest message of a conversation that offered this value; None where it is none of the last hundred."""
        ...

    async def was_picked(self, instance_id: int, event: Event, message: MessageId, before: int) -> bool:
        """The sender of the event has picked the same choice of a message before, in an event with a lower id than
        `before` that did not fail."""
        ...

    async def latest(self, instance_id: int, message: MessageId) -> Offer | None:
        """The same, and None where another answer or message followed in its conversation."""
        ...
