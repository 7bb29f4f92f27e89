"""A conversation is worked off: who is writing, may they, what is asked of the resource, what goes back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from domain.channels.messages import Answer, CallOutcome, Event, Part
from domain.instances.model import Activity, Instance
from domain.refusals import Unavailable
from domain.routing.asking.model import GaveUp, Talk
from domain.routing.asking.service import AskingService
from domain.routing.words import GAVE_UP, TOO_MANY_CRASHES, not_served
from ports.channels import Channels, Replies, Screens
from ports.clock import Clock
from ports.metrics import Meter
from ports.people import People
from ports.storage import (
    CallResult,
    Conversation,
    Conversations,
    HealthStore,
    InstanceStore,
    Processed,
    Waiting,
)

log = logging.getLogger(__name__)

MAX_CRASHES = 3
"""After so many workers died over an event it is given up."""


LONG_TEXT = 50_000
"""Characters of an answer from which on it is rendered in a thread."""

NOTICE_EVERY = timedelta(hours=24)
"""How often a sender is told that only verified users are served."""


class ConversationService:
    """Works off leased conversations, event by event, in order."""

    def __init__(
        self,
        conversations: Conversations,
        instances: InstanceStore,
        channels: Channels,
        people: People,
        asking: AskingService,
        health: HealthStore,
        clock: Clock,
        meter: Meter,
        verification_address: str,
    ) -> None:
        self._conversations = conversations
        self._instances = instances
        self._channels = channels
        self._people = people
        self._asking = asking
        self._health = health
        self._clock = clock
        self._meter = meter
        self._verification_address = verification_address

    async def work(self, conversation: Conversation) -> None:
        """Works off the events of one lease. An outage of the database leaves them for later; so does a database
        that forgot an outcome of before."""
        instance = await self._instances.cached(conversation.lane.instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        talk = Talk(instance, channel, conversation.attended) if instance and channel else None
        for position, waiting in enumerate(conversation.waiting, start=1):
            last = position == len(conversation.waiting)
            if talk is None:
                processed = Processed(
                    conversation.lane, waiting.id, {}, error="the instance is gone", last=last
                )
            elif waiting.event.unreadable:
                reason = waiting.event.unreadable
                await self._health.failed(talk.instance.id, Activity.PROCESSING, reason)
                processed = Processed(conversation.lane, waiting.id, {}, error=reason, last=last)
            else:
                processed = await self._processed(conversation, waiting, talk, last)
            if not await self._record(processed):
                log.info("a conversation is taken up anew", extra={"instance": conversation.lane.instance_id})
                return await self._conversations.release(conversation.lane)
            if talk is not None:
                await self._worked(talk, waiting)
        return None

    async def _worked(self, talk: Talk, waiting: Waiting) -> None:
        """After the outcome is on record, as no reply should wait for a note of success."""
        await self._health.succeeded(talk.instance.id, Activity.RECEIVING, waiting.received_at)
        if talk.answered:
            await self._health.succeeded(talk.instance.id, Activity.PROCESSING)
            talk.answered = False

    async def _record(self, processed: Processed) -> bool:
        """An outcome that cannot be stored is none: tried again, it would come to the same for ever."""
        try:
            return await self._conversations.record(processed)
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an outcome could not be stored", extra={"instance": processed.lane.instance_id})
            reason = f"internal error: {type(unexpected).__name__} on storing the outcome"
            lost = Processed(processed.lane, processed.inbox_id, {}, error=reason, last=processed.last)
            return await self._conversations.record(lost)

    async def _processed(
        self, conversation: Conversation, waiting: Waiting, talk: Talk, last: bool
    ) -> Processed:
        instance, error = talk.instance, None
        talk.draft = waiting.draft
        started = self._clock.now()
        try:
            answer = await self._answer(waiting, talk)
        except GaveUp as gave_up:
            answer, error = Answer(gave_up.words), gave_up.reason
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an event could not be worked on", extra={"instance": instance.id})
            answer, error = Answer(GAVE_UP), f"internal error: {type(unexpected).__name__}"
        if error:
            log.warning("a message is not answered: %s", error, extra={"instance": instance.id})
            await self._health.failed(instance.id, Activity.PROCESSING, error)
        outcome = "failed" if error else "answered" if answer else "silent"
        waited = (started - waiting.received_at).total_seconds()
        self._meter.processed(instance.channel_id, outcome, max(0.0, waited))
        return await self._outcome(conversation, waiting, talk, answer, error, last)

    async def _outcome(
        self,
        conversation: Conversation,
        waiting: Waiting,
        talk: Talk,
        answer: Answer | None,
        error: str | None,
        last: bool,
    ) -> Processed:
        event, channel = waiting.event, talk.channel
        parts: tuple[Part, ...] = ()
        if answer is None and talk.draft:
            answer = Answer("")
        if answer is not None:
            answer = replace(
                answer, request_id=event.request_id, session_id=event.session_id, draft=talk.draft
            )
            if isinstance(channel, Replies):
                parts = tuple(await _rendered(channel, talk.instance, event, answer))
        result = None
        if event.awaits_reply:
            result = CallResult(CallOutcome.FAILED if error else CallOutcome.ANSWERED, answer)
        return Processed(
            conversation.lane,
            waiting.id,
            event.target,
            parts,
            error,
            result,
            last,
            event.request_id,
            firm=talk.attended,
            prompt=answer is not None and bool(answer.choices),
        )

    async def _answer(self, waiting: Waiting, talk: Talk) -> Answer | None:
        event, instance = waiting.event, talk.instance
        if waiting.attempts >= MAX_CRASHES:
            raise GaveUp(GAVE_UP, TOO_MANY_CRASHES)
        if isinstance(talk.channel, Screens) and await talk.channel.is_bot(instance.config, event.sender):
            return None
        user_id = await self._user(talk, event)
        if talk.channel.definition.allows_only_known(instance.config) and user_id is None:
            return await self._notice(instance, event)
        if event.canned_reply is not None:
            await self._asking.passed_over(talk, waiting)
            return Answer(event.canned_reply)
        return await self._asking.answer(talk, waiting, user_id)

    async def _user(self, talk: Talk, event: Event) -> str | None:
        if not talk.channel.definition.identifies(talk.instance.config):
            return None
        return await self._people.resolve(event.sender.identities)

    async def _notice(self, instance: Instance, event: Event) -> Answer | None:
        if await self._people.may_notice(
            instance.id, event.sender.external_id, self._clock.now(), NOTICE_EVERY
        ):
            return Answer(not_served(self._verification_address))
        return None


async def _rendered(channel: Replies, instance: Instance, event: Event, answer: Answer) -> Sequence[Part]:
    """Long texts are rendered beside the others' work, as that takes a while."""
    if len(answer.text) < LONG_TEXT:
        return channel.render(instance.config, event.target, answer)
    return await asyncio.to_thread(channel.render, instance.config, event.target, answer)
