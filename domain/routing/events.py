"""Decides whether an event is answered, and gets its answer."""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from domain.channels.answers import Answer
from domain.channels.messages import Event
from domain.channels.refused import BOT, NOT_VERIFIED
from domain.conversations.reopening import opens_again
from domain.instances.model import Activity, Instance
from domain.refusals import Unavailable, reason_of
from domain.routing.conversation import (
    PROCESSING_FAILED,
    TOO_MANY_CRASHES,
    ConversationContext,
    ProcessingFailed,
    not_served,
)
from domain.routing.invocation import InvocationService
from domain.routing.model import MOST_ROUNDS, STOPPED, WINDOW, LoopStopped
from ports.access import IdentityStore
from ports.instances import HealthStore, UnansweredStore
from ports.queue import QueuedEvent, QueueKey, Rounds
from ports.system import Clock, Meter

log = logging.getLogger(__name__)

MAX_CRASHES = 3
"""After so many workers died over an event it is given up."""
NOTICE_EVERY = timedelta(hours=24)
"""How often a sender is told that only verified users are served."""


@dataclass(eq=False)
class EventService:
    """`verification_address` is where senders verify their identity."""

    invocation: InvocationService
    users: IdentityStore
    rounds: Rounds
    health: HealthStore
    clock: Clock
    meter: Meter
    unanswered: UnansweredStore
    verification_address: str

    async def process(
        self, key: QueueKey, queued: QueuedEvent, context: ConversationContext
    ) -> tuple[Answer | None, str | None]:
        """The answer, if there is one, and the error to be recorded, if any. Raises `Unavailable`."""
        context.draft, context.acknowledged, context.form_update = queued.draft, False, None
        context.asked_by = context.fell_back = ""
        started = self.clock.now()
        answer, error = await self._answer_or_error(key, queued, context)
        if queued.event.choice is not None and not context.acknowledged:
            self.invocation.feedback.acknowledge(context, queued.event)  # else the button goes on waiting
        if failure := error or context.fell_back:
            await self._note_failure(context, f"not answered: {error}" if error else failure, failure)
        if error:
            context.form_update = None
        outcome = "failed" if error else "answered" if answer else "silent"
        waited = (started - queued.received_at).total_seconds()
        self.meter.processed(context.instance.channel_id, outcome, max(0.0, waited))
        return answer, error

    async def _answer_or_error(
        self, key: QueueKey, queued: QueuedEvent, context: ConversationContext
    ) -> tuple[Answer | None, str | None]:
        try:
            return await self._answer(key, queued, context), None
        except LoopStopped:
            return None, STOPPED
        except ProcessingFailed as failed:
            return Answer(failed.user_message, provenance=failed.provenance), failed.reason
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an event could not be processed", extra={"instance": key.instance_id})
            return Answer(PROCESSING_FAILED), reason_of(unexpected)

    async def _note_failure(self, context: ConversationContext, outcome: str, reason: str) -> None:
        context.answered = False
        log.warning("a message is %s", outcome, extra={"instance": context.instance.id})
        await self.health.failed(context.instance.id, Activity.PROCESSING, reason)

    async def replied(self, key: QueueKey, event: Event) -> None:
        """Records that an event gets a reply, where a machine may have caused it."""
        if event.correspondent:
            await self.rounds.replied(key, event.correspondent)

    async def _answer(
        self, key: QueueKey, queued: QueuedEvent, context: ConversationContext
    ) -> Answer | None:
        event, instance, definition = queued.event, context.instance, context.channel.definition
        context.automated, context.reopens = event.automated, False
        if event.only_decides and not (context.has_open_approval or context.offered or context.form):
            return None
        if queued.attempts >= MAX_CRASHES:
            raise ProcessingFailed(PROCESSING_FAILED, TOO_MANY_CRASHES)
        if await self._is_of_machine(key, queued, context):
            return None
        user_id = None
        if definition.identifies(instance.config):
            only_user = instance.only_user(event.sender.proof)
            user_id = await self.users.resolve(event.sender.identities, only_user)
        if user_id is None and not event.refused and definition.allows_only_known(instance.config):
            await self._refuse(instance, event, NOT_VERIFIED)
            return await self._notice(instance, event)
        if event.canned_reply is not None:
            await self.invocation.decisions.skip(context, queued, user_id)
            return Answer(event.canned_reply)
        return await self.invocation.answer(context, queued, user_id)

    async def _is_of_machine(self, key: QueueKey, queued: QueuedEvent, context: ConversationContext) -> bool:
        """Return True for a message of a bot, which is refused, and for an echo. Counts a round that no person is
        known to have caused. Raises `LoopStopped`."""
        event = queued.event
        if sender_filter := context.channel.sender_filter:
            is_bot = await sender_filter.is_bot(context.config, event.sender)
            if is_bot and not event.refused:
                await self._refuse(context.instance, event, BOT)
                return True
            # Where the platform does not know, a person may not have written it.
            context.automated = is_bot is not False
            context.reopens = event.automated and opens_again(replace(event, automated=False))
        if not context.automated:
            return False
        counted = await self.rounds.count(key, queued, MOST_ROUNDS, WINDOW)
        if counted.count > MOST_ROUNDS and not counted.echo:
            raise LoopStopped
        return counted.echo

    async def _refuse(self, instance: Instance, event: Event, reason: str) -> None:
        """Lists a message that is on record as an event already: once it is released it is another one."""
        self.meter.received(instance.channel_id, f"ignored:{reason}")
        if event.has_content:
            key = f"{event.key or event.request_id}:{reason}"
            another = replace(event, key=key, request_id="", merge=None, change=None, awaits_reply=False)
            await self.unanswered.add(instance.id, replace(another, refused=reason))

    async def _notice(self, instance: Instance, event: Event) -> Answer | None:
        sender, now = event.sender.external_id, self.clock.now()
        if await self.users.may_notify(instance.id, sender, now, NOTICE_EVERY):
            return Answer(not_served(self.verification_address))
        return None
