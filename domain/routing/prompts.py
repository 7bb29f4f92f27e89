"""Offered choices and tool confirmations: what a sender picked, and what the message shows then."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

from domain.channels.answers import Answer, Choice
from domain.channels.messages import Event
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.confirmations.model import ApprovalResult, ClosedQuestion, first_line, is_approval
from domain.confirmations.requests import written_choice
from domain.conversations.choices import Offer, chosen, message_of, pressed_choice, typed_choice
from domain.conversations.model import MessageId, parse_message_id
from domain.instances.model import Instance
from domain.routing.conversation import ConversationContext
from ports.capabilities import PromptCloser
from ports.conversations import EarlierMessages
from ports.outbox import Outbox
from ports.queue import QueuedEvent

log = logging.getLogger(__name__)


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
    earlier: EarlierMessages

    async def pressed(self, instance: Instance, reference: str) -> Picked | None:
        """None if the choice is unknown: this instance did not offer it, or it is no longer stored."""
        message = message_of(reference)
        offer = await self.earlier.offer(instance.id, message) if message else None
        choice = pressed_choice(offer.choices, reference) if offer else None
        return Picked(choice, offer, message) if message and offer and choice else None

    async def claimed(self, instance: Instance, event: Event) -> Picked | None:
        """What was offered with the value that the event claims to pick; None where that was not offered."""
        value = event.choice or ""
        message = await self.earlier.message_with_value(instance.id, event.session_id, value)
        offer = await self.earlier.offer(instance.id, message) if message else None
        choice = next((choice for choice in offer.choices if choice.value == value), None) if offer else None
        return Picked(choice, offer, message) if message and offer and choice else None

    async def is_repeated(self, instance: Instance, queued: QueuedEvent, picked: Picked) -> bool:
        """The sender has picked this choice before: it counts once, however often it is pressed."""
        if queued.event.choice is None:
            return False
        return await self.earlier.was_picked(instance.id, queued.event, picked.message, queued.id)

    async def typed(self, context: ConversationContext, event: Event) -> Picked | None:
        """None if the message picks none of the numbered choices that were offered last."""
        message = parse_message_id(context.offered or "")
        if message is None or event.choice is not None or event.attachments:
            return None
        offer = await self.earlier.latest_offer(context.instance.id, message)
        text, choice = written_text(context, event), None
        if offer:
            choice = typed_choice(offer.choices, text) or written_choice(offer.choices, text)
        return Picked(choice, offer, message) if offer and choice else None


def written_text(context: ConversationContext, event: Event) -> str:
    """What a message says as far as it may decide or pick something."""
    return first_line(event.text) if context.channel.first_line_decides else event.text


YOU_CHOSE = "You chose: "
CALL_SECONDS = 5.0
"""What a platform gets for one call."""


def presses_prompt(event: Event) -> bool:
    """Return True if the event is the press of a button of a tool confirmation."""
    return event.choice is not None and is_approval(event.choice)


@dataclass(eq=False)
class PromptFeedback:
    """Calls the platform in tasks of their own: a slow one must not delay the answer."""

    outbox: Outbox
    tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def decided_nothing(
        self, context: ConversationContext, event: Event, result: ApprovalResult
    ) -> Answer | None:
        """Shows the outcome in the prompt, or tells the person who pressed why nothing was decided. Returns that
        text as the answer if the channel can do neither."""
        if result.repeated is None:
            self.acknowledge(context, event, result.notice)
        else:
            self.close(context, result.repeated, event)
        if context.channel.prompt_closer or context.channel.button_ack:
            return None
        return Answer(result.repeated.closed.outcome if result.repeated else result.notice)

    def decided(self, context: ConversationContext, event: Event, closed: ClosedQuestion | None) -> None:
        """The press is acknowledged, and the prompt that it closed loses its buttons."""
        if closed is not None and presses_prompt(event):
            self.close(context, closed, event)
            return
        if event.choice is not None and not context.acknowledged:
            self.acknowledge(context, event)
        self.close(context, closed)

    def chosen(self, context: ConversationContext, event: Event, picked: Picked) -> None:
        """Shows what was chosen: in the message itself, which loses its buttons, or to the person who pressed where
        others may press as well."""
        closer = context.channel.prompt_closer
        if closer is None or not event.is_direct:
            self.acknowledge(context, event, f"{YOU_CHOSE}{picked.choice.label}")
            return
        context.acknowledged = True
        closed = chosen(picked.offer, picked.choice)
        self._call(partial(closer.close_prompt, context.config, context.target(event), closed))

    def chosen_before(self, context: ConversationContext, event: Event, picked: Picked) -> Answer | None:
        """Shows again what was chosen. Where the channel cannot show it, that is the answer."""
        self.chosen(context, event, picked)
        if context.channel.prompt_closer or context.channel.button_ack:
            return None
        return Answer(f"{YOU_CHOSE}{picked.choice.label}")

    def acknowledge(self, context: ConversationContext, event: Event, notice: str = "") -> None:
        context.acknowledged = True
        if ack := context.channel.button_ack:
            self._call(partial(ack.acknowledge_press, context.config, context.target(event), notice))

    def close(
        self, context: ConversationContext, closed: ClosedQuestion | None, press: Event | None = None
    ) -> None:
        """Closes a prompt after a press, or after a typed message, which names no prompt: the stored one is used."""
        if press is not None:
            context.acknowledged = True
        if closed is not None and (closer := context.channel.prompt_closer):
            target = context.target(press) if press else None
            self._call(partial(self._replace, closer, context, closed, target))

    async def _replace(
        self,
        closer: PromptCloser[ChannelConfig, ChannelTarget],
        context: ConversationContext,
        closed: ClosedQuestion,
        press: ChannelTarget | None,
    ) -> None:
        """Replaces the stored prompt, as a press may name any message. Where none is stored, as the platform never
        told its id, the message of the press is replaced. `press` is None for a typed message."""
        config, load = context.config, context.channel.target.load
        asked = await self.outbox.asked(context.instance.id, closed.asked_by)
        stored = (
            closer.prompt_target(config, load(sent.target), sent.message, sent.ref, press) for sent in asked
        )
        if target := next(filter(None, stored), press):
            await closer.close_prompt(config, target, closed.closed)

    def _call(self, call: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.create_task(_briefly(call))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def _briefly(call: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(CALL_SECONDS):
            await call()
    except TimeoutError:
        log.warning("a platform took too long to acknowledge a button or to close a prompt")
    except Exception:
        log.exception("a button could not be acknowledged or a prompt not be closed")
