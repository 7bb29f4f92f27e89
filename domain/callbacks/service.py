"""The way in: a platform's call is proved, read, stored and acknowledged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from domain.callbacks.model import CallbackRules
from domain.channels.messages import CallOutcome, Event, RawAnswer, RawCall, Received
from domain.channels.proof import missing_proof
from domain.channels.typed import ChannelConfig
from domain.instances.model import ACTIVE, Activity, Instance
from domain.refusals import (
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    StorageAway,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from ports.capabilities import CallResponder, StaleMetadata, Webhook
from ports.channels import AnyChannel, Channels
from ports.clock import Clock
from ports.inbox import Accepted, CallResult, Inbox
from ports.instances import HealthRecorder, InstanceLookup
from ports.metadata import MetadataCache
from ports.metrics import Meter
from ports.outbox import Outbox
from ports.replies import Answers
from ports.schedules import Deactivation, PollQueue
from ports.sessions import Sessions

POLL = "poll"
"""`Received.kind` of a call that only says that a poll would find something."""

LOOK_AGAIN = 5.0
"""Seconds after which a waiting call looks for its answer without having been told of one."""


class CallbackService:
    """The use case behind the callback address."""

    def __init__(
        self,
        instances: InstanceLookup,
        channels: Channels,
        inbox: Inbox,
        outbox: Outbox,
        health: HealthRecorder,
        metadata: MetadataCache,
        polls: PollQueue,
        retirement: Deactivation,
        answers: Answers,
        clock: Clock,
        meter: Meter,
        sessions: Sessions,
        rules: CallbackRules,
    ) -> None:
        self._instances = instances
        self._channels = channels
        self._inbox = inbox
        self._outbox = outbox
        self._health = health
        self._metadata = metadata
        self._polls = polls
        self._retirement = retirement
        self._answers = answers
        self._clock = clock
        self._meter = meter
        self._sessions = sessions
        self._rules = rules

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        if len(call.body) > self._rules.max_body_kb * 1024:
            raise TooLarge(f"the body is over {self._rules.max_body_kb} KB")
        instance = await self._instances.cached(instance_id)
        if instance is None or instance.channel_id != channel_id or instance.status != ACTIVE:
            raise NotFound(f"there is no instance {instance_id} of the channel '{channel_id[:100]}'")
        channel = self._channels.find(channel_id)
        if channel is None or channel.webhook is None:
            raise NotFound(f"the channel '{channel_id}' takes no callbacks")
        received = await self._receive(instance, channel, channel.webhook, call)
        self._meter.received(channel_id, received.kind)
        for receipt in received.receipts:
            if await self._outbox.receipt(instance_id, receipt):
                reason = f"sending a reply: {receipt.detail or receipt.state}"
                await self._health.failed(instance_id, Activity.SENDING, reason)
        if received.missing_proof_field is None:  # else anybody could take over a conversation
            for move in received.moves:
                await self._sessions.move(instance_id, move.previous, move.current)
        if received.kind == POLL:
            await self._polls.due_now(instance_id)
        if not received.events:
            return received.answer
        return await self._store(instance, channel, received)

    async def _receive(
        self, instance: Instance, channel: AnyChannel, webhook: Webhook[ChannelConfig], call: RawCall
    ) -> Received:
        try:
            received = await self._read(instance, channel, webhook, call)
            self._prove(instance, received)
        except (Unauthenticated, Forbidden, Invalid) as refusal:
            self._meter.refused(instance.channel_id, refusal.reason)
            raise
        await self._health.unproved(instance.id, received.missing_proof_field)
        return received

    async def _read(
        self, instance: Instance, channel: AnyChannel, webhook: Webhook[ChannelConfig], call: RawCall
    ) -> Received:
        """What the channel makes of the call; once more with new metadata when the cached may be too old."""
        config = channel.config.load(instance.config)
        if channel.metadata is None:
            return webhook.receive(config, call, {}, self._clock.now())
        metadata = await self._metadata.of(instance, channel)
        try:
            try:
                return webhook.receive(config, call, metadata, self._clock.now())
            except StaleMetadata:
                renewed = await self._metadata.renewed(instance, channel)
                if renewed is None:
                    raise
                return webhook.receive(config, call, renewed, self._clock.now())
        except StaleMetadata as stale:
            raise Unauthenticated(stale.message) from None

    def _prove(self, instance: Instance, received: Received) -> None:
        if received.missing_proof_field and self._rules.require_signatures:
            raise Unauthenticated(
                f"{missing_proof(received.missing_proof_field)}, so the origin of this call cannot be proved, and"
                " this server requires proof (REQUIRE_SIGNATURES)"
            )

    async def _store(self, instance: Instance, channel: AnyChannel, received: Received) -> RawAnswer:
        waiting = next((event for event in received.events if event.awaits_reply), None)
        responder = channel.call_responder
        wait = responder.wait_seconds if waiting and responder else None
        accepted = await self._added(instance, received.events, wait)
        if any(each.id == 0 and not each.echo for each in accepted):
            raise NotFound(f"there is no instance {instance.id} of the channel '{instance.channel_id}'")
        for each in accepted:
            self._meter.accepted(instance.channel_id, each.fresh)
        if channel.scheduler and channel.scheduler.fires_once(channel.config.load(instance.config)):
            await self._retirement.retire(instance.id)
        if waiting is None or responder is None:
            return received.answer
        return await self._await(instance, channel, responder, received.events, accepted)

    async def _added(
        self, instance: Instance, events: Sequence[Event], wait: float | None
    ) -> Sequence[Accepted]:
        """Raises what the inbox raises; any failure but an outage shows in the health of the instance."""
        try:
            return await self._inbox.add(instance.id, events, wait)
        except StorageAway:
            raise
        except Exception as failure:
            words = (
                failure.message
                if isinstance(failure, Refusal)
                else f"internal error: {type(failure).__name__}"
            )
            await self._health.failed(instance.id, Activity.RECEIVING, f"storing a message: {words}")
            raise

    async def _await(
        self,
        instance: Instance,
        channel: AnyChannel,
        responder: CallResponder[ChannelConfig],
        events: Sequence[Event],
        accepted: Sequence[Accepted],
    ) -> RawAnswer:
        event, stored = next(pair for pair in zip(events, accepted, strict=True) if pair[0].awaits_reply)
        result = None if stored.fresh else await self._looked(self._inbox.result, stored.id)
        deadline = self._clock.now() + timedelta(seconds=responder.wait_seconds)
        while result is None and (remaining := (deadline - self._clock.now()).total_seconds()) > 0:
            await self._answers.wait(stored.id, min(remaining, LOOK_AGAIN))
            result = await self._looked(self._inbox.result, stored.id)
            if result is None:
                await self._still_there(instance)
        result = result or await self._looked(self._inbox.stop_waiting, stored.id)
        found = result or CallResult(CallOutcome.TIMEOUT, None)
        config = channel.config.load(instance.config)
        return responder.answer_in_call(config, event, found.outcome, found.answer)

    async def _still_there(self, instance: Instance) -> None:
        """Raises `NotFound` once the instance is deleted: its messages went with it."""
        try:
            found = await self._instances.cached(instance.id)
        except Unavailable:
            return
        if found is None:
            raise NotFound(f"the instance {instance.id} was deleted before the answer came")

    async def _looked(
        self, look: Callable[[int], Awaitable[CallResult | None]], inbox_id: int
    ) -> CallResult | None:
        """The answer if it is there. In an outage of the database there is none yet: the message is accepted,
        so that the call must not be told to try again."""
        try:
            return await look(inbox_id)
        except Unavailable:
            return None
