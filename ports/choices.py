"""Replies that messages have offered."""

from typing import Protocol

from domain.conversations.choices import Offer
from domain.conversations.message_ids import MessageId


class OfferStore(Protocol):
    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """What a message of this instance said and offered; None where it is not known, or not kept any more."""
        ...

    async def latest(self, instance_id: int, message: MessageId) -> Offer | None:
        """The same, and None where another answer or message followed in its conversation."""
        ...
