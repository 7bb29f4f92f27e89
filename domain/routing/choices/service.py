"""Offers the choices of an answer, and finds what a press or a typed number picks."""

from dataclasses import dataclass, replace

from domain.channels.answers import Answer, Choice
from domain.channels.messages import Event
from domain.conversations.choices import (
    Offer,
    message_of,
    offered,
    pressed_choice,
    typed_choice,
)
from domain.conversations.message_ids import MessageId, parse_message_id
from domain.instances.model import Instance
from domain.routing.invocation.model import ConversationContext
from ports.choices import OfferStore
from ports.inbox import QueuedEvent


@dataclass(frozen=True, slots=True)
class Picked:
    """A choice, and the message that offered it."""

    choice: Choice
    offer: Offer
    message: MessageId

    def event(self, event: Event) -> Event:
        """The message in which the sender picked it: its text is the value."""
        return replace(event, text=self.choice.value, choice=self.choice.reference)


@dataclass(eq=False)
class ChoiceService:
    """`callback_address` is what the platforms call, without a final slash."""

    store: OfferStore
    callback_address: str

    def offer(self, instance: Instance, answer: Answer, message: MessageId, secret: str) -> Answer:
        """The answer as the message offers it; `secret` is known to no sender."""
        return offered(answer, message, secret, self.callback_address + instance.webhook_path)

    async def pressed(self, instance: Instance, reference: str) -> Picked | None:
        """None for a choice that is not known: it was not offered by this instance, or is not kept any more."""
        message = message_of(reference)
        offer = await self.store.offer(instance.id, message) if message else None
        choice = pressed_choice(offer.choices, reference) if offer else None
        return Picked(choice, offer, message) if message and offer and choice else None

    async def claimed(self, instance: Instance, event: Event) -> Picked | None:
        """What was offered with the value that the event claims to pick; None where that was not offered."""
        value = event.choice or ""
        message = await self.store.with_value(instance.id, event.session_id, value)
        offer = await self.store.offer(instance.id, message) if message else None
        choice = next((choice for choice in offer.choices if choice.value == value), None) if offer else None
        return Picked(choice, offer, message) if message and offer and choice else None

    async def is_repeated(self, instance: Instance, queued: QueuedEvent, picked: Picked) -> bool:
        """The sender has picked this choice before: it counts once, however often it is pressed."""
        return await self.store.was_picked(instance.id, queued.event, picked.message, queued.id)

    async def typed(self, context: ConversationContext, event: Event) -> Picked | None:
        """None for a message that picks nothing of the numbered choices that were offered last."""
        message = parse_message_id(context.offered or "")
        if message is None or event.choice is not None or event.attachments:
            return None
        offer = await self.store.latest(context.instance.id, message)
        choice = typed_choice(offer.choices, event.text) if offer else None
        return Picked(choice, offer, message) if offer and choice else None
