"""Works off leased conversations: each event in order, from its answer to its stored outcome."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from domain.channels.answers import Answer
from domain.channels.messages import CallOutcome
from domain.channels.typed import ChannelTarget
from domain.conversations.forwarding import ForwardingService
from domain.conversations.history import HANDLER_MINUTES
from domain.conversations.rich_text import with_text
from domain.faults import Faults, RowName
from domain.instances.model import Activity
from domain.refusals import StorageAway, Unavailable, reason_of
from domain.rendering import render_answer
from domain.routing.bursts import burst_of, burst_settles_in, is_joinable, joined, merged, settles_in
from domain.routing.conversation import (
    PROCESSING_FAILED,
    ConversationContext,
    Withdrawals,
    Withdrawn,
    given_up,
)
from domain.routing.events import EventService
from domain.routing.indicators import LingeringTyping
from domain.usage.budget_service import BudgetGuard
from domain.values import value
from ports.channels import Channels
from ports.instances import HealthStore, InstanceStore
from ports.queue import CallResult, Conversation, Conversations, EventOutcome, QueuedEvent, QueueKey
from ports.system import Span, no_span
from ports.usage import UsageStore

log = logging.getLogger(__name__)

RETRIES = (2.0, 10.0, 30.0, 60.0)
"""Seconds before the second, third, ... try of an event whose processing failed while the database answered; after
the last one it is given up."""


@value
class _Work:
    """An event to be processed. `context` is None where the instance was removed; `last`: no leased event follows."""

    key: QueueKey
    queued: QueuedEvent
    context: ConversationContext | None
    last: bool

    @property
    def row(self) -> RowName:
        return self.queued.id, self.queued.event.request_id


@dataclass(eq=False)
class ConversationService:
    conversations: Conversations
    instances: InstanceStore
    channels: Channels
    events: EventService
    health: HealthStore
    forwarding: ForwardingService
    withdrawals: Withdrawals
    typing: LingeringTyping
    usage: UsageStore
    budgets: BudgetGuard
    span: Span = no_span
    _faults: Faults = field(default_factory=Faults, init=False)

    async def work(self, conversation: Conversation) -> None:
        """Works off the events of one lease. An outage of the database leaves them for later; so does a database
        that forgot an earlier outcome. Any other failure is counted, and ends the work on its event."""
        key, context = conversation.key, None
        rows = deque(conversation.queued)
        while rows:
            queued = rows.popleft()
            try:
                context = context or await self._context(conversation)
                queued, seconds = await self._gather(key, queued, context)
                if seconds > 0:
                    return await self.conversations.postpone(key, seconds)
                rows = deque(row for row in rows if row.id not in queued.merged)
                work = _Work(key, queued, context, last=not rows)
                with self.span(
                    "message", queued.event.trace, instance=key.instance_id, request=queued.event.request_id
                ):
                    recorded = await self._process(work)
            except StorageAway:
                raise
            except Exception as failure:  # noqa: BLE001 - logged there
                return await self._failed(_Work(key, queued, context, last=True), failure)
            self._faults.forget(work.row)
            if not recorded:
                log.info("a conversation is leased again", extra=_extra(work))
                return await self.conversations.release(key)
            if context is not None:
                context.keep_form()
                # After the outcome is stored, as no reply should wait for a note of success.
                await self.health.succeeded(context.instance.id, Activity.RECEIVING, queued.received_at)
                if context.answered:
                    await self.health.succeeded(context.instance.id, Activity.PROCESSING)
                    context.answered = False
        return None

    async def _gather(
        self, key: QueueKey, queued: QueuedEvent, context: ConversationContext | None
    ) -> tuple[QueuedEvent, float]:
        """The event with those that belong to the same message, and the seconds until that is whole."""
        seconds = context.channel.definition.merge_seconds(context.instance.config) if context else 0.0
        if seconds and is_joinable(queued.event):
            waiting = await self.conversations.album(key, None)
            burst = burst_of(waiting.rows)
            return joined(burst) if burst else queued, burst_settles_in(waiting, burst, seconds)
        if merge := queued.event.merge:
            album = await self.conversations.album(key, merge)
            return merged(queued, album.rows), settles_in(album)
        return queued, 0.0

    async def _context(self, conversation: Conversation) -> ConversationContext | None:
        instance = await self.instances.cached(conversation.key.instance_id)
        channel = self.channels.find(instance.channel_id) if instance else None
        if instance is None or channel is None:
            return None
        return ConversationContext(
            instance,
            channel,
            conversation.has_open_approval,
            offered=conversation.offered,
            form=conversation.form,
            labels=conversation.labels,
        )

    async def _process(self, work: _Work) -> bool:
        """Return True if the outcome is stored. Raises errors after which the event is tried again."""
        if work.context is None:
            return await self.conversations.record(_without_answer(work, "the instance was removed"))
        if error := work.queued.event.unreadable or self._faults.find(work.row).outcome:
            await self.health.failed(work.key.instance_id, Activity.PROCESSING, error)
            return await self._record(work, _without_answer(work, error))
        context, queued = work.context, work.queued
        try:
            try:
                answer, error = await self.withdrawals.run(
                    (queued.id, *queued.merged), self.events.process(work.key, queued, context)
                )
            except Withdrawn:
                return False
            if answer is not None and error is None and context.channel.forwarding:
                error = await self.forwarding.forward(context, queued.event, answer)
            try:
                outcome = await _outcome(work, context, answer, error)
                if outcome.messages:
                    await self.events.replied(work.key, queued.event)
                    context.linger_typing(work.key, self.typing)
                return await self._record(work, outcome)
            except Unavailable:
                raise
            except Exception as unexpected:
                log.exception("an outcome could not be stored", extra=_extra(work))
                return await self._give_up(work, f"{reason_of(unexpected)} on storing the outcome")
        finally:
            context.stop_typing()
            self.usage.keep(work.key.instance_id, context.usage_meter.take())  # what came with no outcome

    async def _record(self, work: _Work, outcome: EventOutcome) -> bool:
        """Stores an outcome, and with it what the runs for its event took: `outcome.usage`."""
        runs = work.context.usage_meter.take() if work.context else []
        try:
            recorded = await self.conversations.record(outcome)
            self.budgets.note(work.key.instance_id, runs)
            return recorded
        except Exception:  # a cancellation leaves the commit under way
            if work.context:
                work.context.usage_meter.runs = runs
            raise

    async def _failed(self, work: _Work, failure: Exception) -> None:
        """The event is tried again after a while, a bounded number of times."""
        log.error("a message could not be processed", exc_info=failure, extra=_extra(work))
        reason = reason_of(failure)
        failures = work.queued.failures + self._faults.find(work.row).failures
        if failures < len(RETRIES):
            await self.health.failed(work.key.instance_id, Activity.PROCESSING, reason)
            try:
                await self.conversations.retry(work.key, work.queued.id, reason, RETRIES[failures])
            except StorageAway:
                raise
            except Exception:  # a failure that the database cannot count is counted here
                log.exception("a failure could not be counted", extra=_extra(work))
                self._faults.remember(work.row).failures += 1
                await self.conversations.release(work.key, RETRIES[failures])
        else:
            await self._give_up(work, given_up(failures + 1, reason))
            self._faults.forget(work.row)

    async def _give_up(self, work: _Work, error: str) -> bool:
        """The sender gets an apology, unless that cannot be rendered or stored either. A message of which the
        database stores neither failures nor an outcome is removed."""
        await self.health.failed(work.key.instance_id, Activity.PROCESSING, error)
        outcomes = [*await _apology(work, error), _without_answer(work, error)]
        stores: list[Callable[[EventOutcome], Awaitable[bool]]] = [partial(self._record, work)]
        if self._faults.find(work.row).failures >= len(RETRIES):
            stores.append(self.conversations.remove)
        refusals: list[Exception] = []
        for store, outcome in product(stores, outcomes):
            try:
                return await store(outcome)
            except StorageAway:
                raise
            except Exception as refusal:
                log.exception("an outcome could not be stored", extra=_extra(work))
                refusals.append(refusal)
        if not isinstance(refusals[-1], Unavailable):  # the resource is not invoked again
            self._faults.remember(work.row).outcome = error
        raise refusals[-1]


async def _apology(work: _Work, error: str) -> Sequence[EventOutcome]:
    """Returns no messages if there is no instance, or the apology cannot be rendered."""
    if work.context is None:
        return ()
    work.context.answered, work.context.form_update = False, None
    try:
        return (await _outcome(work, work.context, Answer(PROCESSING_FAILED), error),)
    except StorageAway:
        raise
    except Exception:
        log.exception("an apology could not be rendered", extra=_extra(work))
        return ()


def _without_answer(work: _Work, error: str) -> EventOutcome:
    runs = work.context.usage_meter.runs if work.context else ()
    return EventOutcome(
        work.key, work.queued.id, {}, error=error, last=work.last, merged=work.queued.merged, usage=runs
    )


async def _outcome(
    work: _Work, context: ConversationContext, answer: Answer | None, error: str | None
) -> EventOutcome:
    queued, event, channel = work.queued, work.queued.event, context.channel
    target = context.target(event)
    shows_work = _shows_work(context, target)
    if answer is None and shows_work:
        answer = Answer("")
    outcome = EventOutcome(
        work.key,
        queued.id,
        event.target,
        error=error,
        last=work.last,
        request_id=event.request_id,
        require_sync_commit=context.has_open_approval,
        merged=queued.merged,
        event=event,
        by_person=not context.automated,
        form_update=context.form_update,
        reopens=context.reopens,
        usage=context.usage_meter.runs,
    )
    if answer is not None:
        answer = replace(
            answer, request_id=event.request_id, session_id=event.session_id, draft=context.draft
        )
        # Where nobody can be written to, no person can take over.
        hands_over = answer.wants_person and channel.sender is not None
        answer = with_text(answer, channel.rich_kinds)
        messages, is_numbered = await render_answer(channel, context.config, target, answer)
        outcome = replace(
            outcome,
            messages=messages if shows_work or not answer.silent else (),
            answer=answer,
            prompt=answer.has_buttons,
            numbered=is_numbered,
            handler_minutes=HANDLER_MINUTES if hands_over else None,
        )
    if event.awaits_reply:
        ended = CallOutcome.FAILED if error else CallOutcome.ANSWERED
        outcome = replace(outcome, result=CallResult(ended, answer))
    return outcome


def _shows_work(context: ConversationContext, target: ChannelTarget) -> bool:
    """Return True if the sender sees a sign that an answer is being made, which only an answer takes away."""
    waiting = context.channel.waiting
    return bool(context.draft) or (waiting is not None and waiting.shows_waiting(context.config, target))


def _extra(work: _Work) -> dict[str, int]:
    return {"instance": work.key.instance_id}
