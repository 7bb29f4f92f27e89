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


@dataclass(frozen=True, slots=True)
class Picked:
    """A choice, and the message that offered it."""

    choice: Choice
    offer: Offer

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
        return Picked(choice, offer) if offer and choice else None

    async def typed(self, context: ConversationContext, event: Event) -> Picked | None:
        """None for a message that picks nothing of the numbered choices that were offered last."""
        message = parse_message_id(context.offered or "")
        if message is None or event.choice is not None or event.attachments:
            return None
        offer = await self.store.latest(context.instance.id, message)
        choice = typed_choice(offer.choices, event.text) if offer else None
        return Picked(choice, offer) if offer and choice else None
