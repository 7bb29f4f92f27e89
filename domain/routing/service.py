"""A conversation is worked off: who is writing, may they, what is asked of the resource, what goes back."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product

from domain.channels.messages import Answer, CallOutcome, Event, OutboundMessage
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.instances.model import Activity, Instance
from domain.refusals import Refusal, StorageAway, Unavailable
from domain.routing.albums import merged, settles_in
from domain.routing.asking.model import ConversationContext, ProcessingFailed
from domain.routing.asking.service import InvocationService
from domain.routing.rounds import MOST_ROUNDS, STOPPED, WINDOW, LoopStopped
from domain.routing.words import GAVE_UP, TOO_MANY_CRASHES, given_up, not_served
from ports.capabilities import ReplySender
from ports.channels import Channels
from ports.clock import Clock
from ports.identities import People
from ports.metrics import Meter
from ports.storage import (
    CallResult,
    Conversation,
    Conversations,
    EventOutcome,
    HealthStore,
    InstanceStore,
    QueuedEvent,
    QueueKey,
    Rounds,
)

log = logging.getLogger(__name__)

MAX_CRASHES = 3
"""After so many workers died over an event it is given up."""

RETRIES = (2.0, 10.0, 30.0, 60.0)
"""Seconds before the second, third, ... try of an event whose work failed while the database answered; after the
last one it is given up."""

LONG_TEXT = 50_000
"""Characters of an answer from which on it is rendered in a thread."""

MANY_UNRECORDED = 10_000
"""So many messages are remembered of which the database takes no record."""

NOTICE_EVERY = timedelta(hours=24)
"""How often a sender is told that only verified users are served."""


@dataclass(slots=True)
class _Unrecorded:
    """What the database refuses to record of a message: how often the work on it failed, and why it was given up."""

    failures: int = 0
    outcome: str = ""


class ConversationService:
    """Works off leased conversations, event by event, in order."""

    def __init__(
        self,
        conversations: Conversations,
        instances: InstanceStore,
        channels: Channels,
        people: People,
        asking: InvocationService,
        health: HealthStore,
        clock: Clock,
        meter: Meter,
        verification_address: str,
        rounds: Rounds,
    ) -> None:
        self._rounds = rounds
        self._conversations = conversations
        self._instances = instances
        self._channels = channels
        self._people = people
        self._asking = asking
        self._health = health
        self._clock = clock
        self._meter = meter
        self._verification_address = verification_address
        self._unrecorded: dict[tuple[int, str], _Unrecorded] = {}

    async def work(self, conversation: Conversation) -> None:
        """Works off the events of one lease. An outage of the database leaves them for later; so does a database
        that forgot an outcome of before. Any other failure is counted, and ends the work on its event."""
        context: ConversationContext | None = None
        rows = deque(conversation.waiting)
        while rows:
            waiting = rows.popleft()
            try:
                if waiting.event.merge:
                    album = await self._conversations.album(conversation.lane, waiting.event.merge)
                    if (seconds := settles_in(album)) > 0:
                        return await self._conversations.postpone(conversation.lane, seconds)
                    waiting = merged(waiting, album.rows)
                    rows = deque(row for row in rows if row.id not in waiting.merged)
                context = context or await self._context(conversation)
                recorded = await self._worked(conversation.lane, waiting, context, last=not rows)
            except StorageAway:
                raise
            except Exception as failure:  # noqa: BLE001 - logged there
                return await self._failed(conversation.lane, waiting, context, failure)
            self._unrecorded.pop(_name(waiting), None)
            if not recorded:
                log.info("a conversation is taken up anew", extra={"instance": conversation.lane.instance_id})
                return await self._conversations.release(conversation.lane)
            if context is not None:
                await self._succeeded(context, waiting)
        return None

    async def _succeeded(self, context: ConversationContext, waiting: QueuedEvent) -> None:
        """After the outcome is on record, as no reply should wait for a note of success."""
        await self._health.succeeded(context.instance.id, Activity.RECEIVING, waiting.received_at)
        if context.answered:
            await self._health.succeeded(context.instance.id, Activity.PROCESSING)
            context.answered = False

    async def _context(self, conversation: Conversation) -> ConversationContext | None:
        """None where the instance is gone."""
        instance = await self._instances.cached(conversation.lane.instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        return (
            ConversationContext(instance, channel, conversation.has_open_approval)
            if instance and channel
            else None
        )

    async def _worked(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext | None, last: bool
    ) -> bool:
        """Whether the outcome is on record. Raises what is tried again after a while."""
        hopeless = waiting.event.unreadable or self._known(waiting).outcome
        if context is None or hopeless:
            reason = hopeless if context else "the instance is gone"
            if context:
                await self._health.failed(lane.instance_id, Activity.PROCESSING, reason)
            return await self._conversations.record(_failed(lane, waiting, reason, last))
        try:
            return await self._answered(lane, waiting, context, last)
        finally:
            context.stop_typing()

    async def _answered(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext, last: bool
    ) -> bool:
        """As `_worked`. The sender sees that an answer is being written until the outcome is on record."""
        answer, error = await self._processed(lane, waiting, context)
        try:
            outcome = await self._outcome(lane, waiting, context, answer, error, last)
            if waiting.event.correspondent and outcome.parts:
                await self._rounds.replied(lane, waiting.event.correspondent)
            return await self._conversations.record(outcome)
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an outcome could not be stored", extra={"instance": lane.instance_id})
            reason = f"{_reason(unexpected)} on storing the outcome"
            return await self._give_up(lane, waiting, context, reason, last)

    async def _failed(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext | None, failure: Exception
    ) -> None:
        """The event is tried again after a while, a bounded number of times."""
        log.error("the work on a message failed", exc_info=failure, extra={"instance": lane.instance_id})
        reason = _reason(failure)
        failures = waiting.failures + self._known(waiting).failures
        if failures < len(RETRIES):
            await self._health.failed(lane.instance_id, Activity.PROCESSING, reason)
            await self._try_again(lane, waiting, reason, RETRIES[failures])
        else:
            await self._give_up(lane, waiting, context, given_up(failures + 1, reason), last=True)
            self._unrecorded.pop(_name(waiting), None)

    async def _try_again(self, lane: QueueKey, waiting: QueuedEvent, reason: str, delay: float) -> None:
        """What the database refuses to count is counted here."""
        try:
            return await self._conversations.retry(lane, waiting.id, reason, delay)
        except StorageAway:
            raise
        except Exception:
            log.exception("a failure could not be counted", extra={"instance": lane.instance_id})
        self._remembered(waiting).failures += 1
        return await self._conversations.release(lane, delay)

    async def _give_up(
        self,
        lane: QueueKey,
        waiting: QueuedEvent,
        context: ConversationContext | None,
        error: str,
        last: bool,
    ) -> bool:
        """The sender gets an apology, unless that cannot be rendered or stored either. A message of which the
        database took no failure down, and takes no outcome, is removed."""
        await self._health.failed(lane.instance_id, Activity.PROCESSING, error)
        outcomes = await self._apology(lane, waiting, context, error, last) if context else []
        outcomes.append(_failed(lane, waiting, error, last))
        stores = [self._conversations.record]
        if self._known(waiting).failures >= len(RETRIES):
            stores.append(self._conversations.remove)
        refusals: list[Exception] = []
        for store, outcome in product(stores, outcomes):
            try:
                return await store(outcome)
            except StorageAway:
                raise
            except Exception as refusal:
                log.exception("an outcome could not be stored", extra={"instance": lane.instance_id})
                refusals.append(refusal)
        if not isinstance(refusals[-1], Unavailable):  # the resource is not asked again
            self._remembered(waiting).outcome = error
        raise refusals[-1]

    async def _apology(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext, error: str, last: bool
    ) -> list[EventOutcome]:
        """None where it cannot be rendered."""
        context.answered = False
        try:
            return [await self._outcome(lane, waiting, context, Answer(GAVE_UP), error, last)]
        except StorageAway:
            raise
        except Exception:
            log.exception("an apology could not be rendered", extra={"instance": lane.instance_id})
            return []

    def _known(self, waiting: QueuedEvent) -> _Unrecorded:
        return self._unrecorded.get(_name(waiting)) or _Unrecorded()

    def _remembered(self, waiting: QueuedEvent) -> _Unrecorded:
        if len(self._unrecorded) >= MANY_UNRECORDED:
            self._unrecorded.clear()
        return self._unrecorded.setdefault(_name(waiting), _Unrecorded())

    async def _processed(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext
    ) -> tuple[Answer | None, str | None]:
        """The answer, if there is one, and what is on record against it. Raises `Unavailable`."""
        instance, error = context.instance, None
        context.draft, context.noticed = waiting.draft, False
        started = self._clock.now()
        try:
            answer = await self._answer(lane, waiting, context)
        except LoopStopped:
            answer, error = None, STOPPED
        except ProcessingFailed as gave_up:
            answer, error = Answer(gave_up.words), gave_up.reason
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an event could not be worked on", extra={"instance": instance.id})
            answer, error = Answer(GAVE_UP), _reason(unexpected)
        self._asking.ended(context, waiting.event)
        if error:
            context.answered = False
            log.warning("a message is not answered: %s", error, extra={"instance": instance.id})
            await self._health.failed(instance.id, Activity.PROCESSING, error)
        outcome = "failed" if error else "answered" if answer else "silent"
        waited = (started - waiting.received_at).total_seconds()
        self._meter.processed(instance.channel_id, outcome, max(0.0, waited))
        return answer, error

    async def _outcome(
        self,
        lane: QueueKey,
        waiting: QueuedEvent,
        context: ConversationContext,
        answer: Answer | None,
        error: str | None,
        last: bool,
    ) -> EventOutcome:
        event, channel = waiting.event, context.channel
        parts: tuple[OutboundMessage, ...] = ()
        if answer is None and (context.draft or _shows_waiting(context, event)):
            answer = Answer("")
        if answer is not None:
            answer = replace(
                answer, request_id=event.request_id, session_id=event.session_id, draft=context.draft
            )
            if channel.sender:
                parts = tuple(await _rendered(channel.sender, context, event, answer))
        result = None
        if event.awaits_reply:
            result = CallResult(CallOutcome.FAILED if error else CallOutcome.ANSWERED, answer)
        return EventOutcome(
            lane,
            waiting.id,
            event.target,
            parts,
            error,
            result,
            last,
            event.request_id,
            require_sync_commit=context.has_open_approval,
            prompt=answer is not None and bool(answer.choices),
            merged=waiting.merged,
            event=event,
            by_person=not context.automated,
        )

    async def _answer(
        self, lane: QueueKey, waiting: QueuedEvent, context: ConversationContext
    ) -> Answer | None:
        event, instance = waiting.event, context.instance
        context.automated = event.automated
        if event.only_decides and not context.has_open_approval:
            return None
        if waiting.attempts >= MAX_CRASHES:
            raise ProcessingFailed(GAVE_UP, TOO_MANY_CRASHES)
        if sender_filter := context.channel.sender_filter:
            is_bot = await sender_filter.is_bot(context.config, event.sender)
            if is_bot:
                return None
            context.automated = event.automated or is_bot is None
        if context.automated and await self._is_echo(lane, waiting):
            return None
        user_id = await self._user(context, event)
        if context.channel.definition.allows_only_known(instance.config) and user_id is None:
            return await self._notice(instance, event)
        if event.canned_reply is not None:
            await self._asking.passed_over(context, waiting)
            return Answer(event.canned_reply)
        return await self._asking.answer(context, waiting, user_id)

    async def _is_echo(self, lane: QueueKey, waiting: QueuedEvent) -> bool:
        """Counts the round. Raises `LoopStopped`."""
        counted = await self._rounds.count(lane, waiting, MOST_ROUNDS, WINDOW)
        if counted.count > MOST_ROUNDS and not counted.echo:
            raise LoopStopped
        return counted.echo

    async def _user(self, context: ConversationContext, event: Event) -> str | None:
        if not context.channel.definition.identifies(context.instance.config):
            return None
        return await self._people.resolve(event.sender.identities)

    async def _notice(self, instance: Instance, event: Event) -> Answer | None:
        if await self._people.may_notice(
            instance.id, event.sender.external_id, self._clock.now(), NOTICE_EVERY
        ):
            return Answer(not_served(self._verification_address))
        return None


def _name(waiting: QueuedEvent) -> tuple[int, str]:
    """A database that died may give the id of a message that it forgot to another."""
    return waiting.id, waiting.event.request_id


def _failed(lane: QueueKey, waiting: QueuedEvent, error: str, last: bool) -> EventOutcome:
    """An outcome without an answer."""
    return EventOutcome(lane, waiting.id, {}, error=error, last=last, merged=waiting.merged)


def _shows_waiting(context: ConversationContext, event: Event) -> bool:
    waiting = context.channel.waiting
    return waiting is not None and waiting.shows_waiting(context.config, context.target(event))


async def _rendered(
    sender: ReplySender[ChannelConfig, ChannelTarget],
    context: ConversationContext,
    event: Event,
    answer: Answer,
) -> Sequence[OutboundMessage]:
    """Long texts are rendered beside the others' work, as that takes a while."""
    if len(answer.text) < LONG_TEXT:
        return sender.render(context.config, context.target(event), answer)
    return await asyncio.to_thread(sender.render, context.config, context.target(event), answer)


def _reason(failure: Exception) -> str:
    """Words for the record; an unknown error's own words may hold a secret."""
    return failure.message if isinstance(failure, Refusal) else f"internal error: {type(failure).__name__}"
