"""Calls of platforms: verified, read, stored, acknowledged."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from domain.call_streams import CallStreams
from domain.channels.messages import (
    CallOutcome,
    Event,
    RawAnswer,
    RawCall,
    Received,
    SessionAlias,
    SessionRename,
)
from domain.channels.model import ALLOWED_CHANNELS, missing_proof
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
    reason_of,
)
from domain.subscriptions.model import PUSH_HEADER
from ports.capabilities import StaleMetadata, Webhook
from ports.channels import AnyChannel, Channels, MetadataCache
from ports.instances import HealthStore, InstanceStore, ScheduleStore, UnansweredStore
from ports.outbox import Outbox
from ports.queue import Accepted, Answers, CallResult, Inbox, Sessions
from ports.system import Clock, Meter, Span, no_span

POLL = "poll"
"""`Received.kind` of a call that only says that a poll would find something."""

TO_BE_STREAMED = RawAnswer(
    501, b"this gateway is older than its core, which answers in a stream", streams=True
)
"""Asks the gateway to call `stream`. One of an earlier version answers with it."""

LOOK_AGAIN = 5.0
"""Seconds after which a waiting call checks for its answer without a notification."""


@dataclass(eq=False)
class CallVerifier:
    """Verifies and reads calls. `require_signatures`: a call whose origin cannot be verified is refused."""

    metadata: MetadataCache
    health: HealthStore
    clock: Clock
    meter: Meter
    require_signatures: bool

    async def verify(
        self, instance: Instance, channel: AnyChannel, webhook: Webhook[ChannelConfig], call: RawCall
    ) -> Received:
        config = channel.config.load(instance.receiving_config or instance.config)
        try:
            metadata = await self.metadata.of(instance, channel) if channel.metadata else {}
            try:
                received = webhook.receive(config, call, metadata, self.clock.now())
            except StaleMetadata as stale:
                received = await self._read_again(instance, channel, webhook, call, stale)
            if received.missing_proof_field and self.require_signatures:
                raise Unauthenticated(
                    f"{missing_proof(received.missing_proof_field)}, so the origin of this call cannot be proved, and"
                    " this server requires proof (REQUIRE_SIGNATURES)"
                )
        except (Unauthenticated, Forbidden, Invalid) as refusal:
            self.meter.refused(instance.channel_id, refusal.reason)
            raise
        await self.health.unproved(instance.id, received.missing_proof_field)
        proof = None if received.missing_proof_field else channel.call_proof
        return replace(received, events=tuple(event.proved_by(proof) for event in received.events))

    async def _read_again(
        self,
        instance: Instance,
        channel: AnyChannel,
        webhook: Webhook[ChannelConfig],
        call: RawCall,
        stale: StaleMetadata,
    ) -> Received:
        """With new metadata, as the cached may be too old. Raises `Unauthenticated`."""
        renewed = await self.metadata.renewed(instance, channel)
        try:
            if renewed is not None:
                config = channel.config.load(instance.receiving_config or instance.config)
                return webhook.receive(config, call, renewed, self.clock.now())
        except StaleMetadata as still_stale:
            stale = still_stale
        raise Unauthenticated(stale.message)


@dataclass(eq=False)
class SessionRenames:
    """Lets conversations go on under another id."""

    sessions: Sessions
    instances: InstanceStore

    async def rename(self, instance_id: int, rename: SessionRename) -> None:
        """A place that `allowedChannels` names is allowed under its new id; messages that come late under the former
        one belong to it too."""
        await self.sessions.rename(instance_id, rename.previous, rename.current)
        if not rename.of_place:
            return
        await self.sessions.add_alias(instance_id, SessionAlias(rename.previous, rename.current))
        instance = await self.instances.find(instance_id)
        allowed = instance.config.get(ALLOWED_CHANNELS.name) if instance else None
        ids = [id.strip() for id in allowed.split(",")] if isinstance(allowed, str) else []
        if rename.previous in ids:
            renamed = [rename.current if id == rename.previous else id for id in ids]
            await self.instances.annotate(instance_id, ALLOWED_CHANNELS.name, ", ".join(renamed))

    async def join(self, instance_id: int, alias: SessionAlias) -> None:
        """What was said under the alias alone until now belongs to the session."""
        is_new = await self.sessions.add_alias(instance_id, alias)
        if is_new and alias.alias != alias.session_id:
            await self.sessions.rename(instance_id, alias.alias, alias.session_id)

    async def resolved(self, instance_id: int, event: Event) -> Event:
        """The event in the session that has its alias."""
        session_id = await self.sessions.of_alias(instance_id, event.alias) if event.alias else None
        if session_id is None:
            return event
        sender = event.sender
        if sender.external_id == event.alias:
            sender = replace(sender, external_id=session_id)
        return replace(event, session_id=session_id, sender=sender)


@dataclass(eq=False)
class ReplyWaiter:
    """Waits within a call for its answer."""

    inbox: Inbox
    answers: Answers
    instances: InstanceStore
    clock: Clock

    async def wait(self, instance: Instance, stored: Accepted, seconds: float) -> CallResult:
        """Raises `NotFound` once the instance is deleted."""
        result = None if stored.fresh else await _unless_unavailable(self.inbox.result(stored.id))
        deadline = self.clock.now() + timedelta(seconds=seconds)
        while result is None and (remaining := (deadline - self.clock.now()).total_seconds()) > 0:
            await self.answers.wait(stored.id, min(remaining, LOOK_AGAIN))
            result = await _unless_unavailable(self.inbox.result(stored.id))
            if result is None:
                with suppress(Unavailable):
                    if await self.instances.cached(instance.id) is None:  # its messages are deleted with it
                        raise NotFound(f"the instance {instance.id} was deleted before the answer came")
        result = result or await _unless_unavailable(self.inbox.stop_waiting(stored.id))
        return result or CallResult(CallOutcome.TIMEOUT, None)


@dataclass(eq=False)
class CallbackService:
    """`domain.use_cases.Callbacks`. `max_body_kb`: the largest body that is read."""

    instances: InstanceStore
    channels: Channels
    verifier: CallVerifier
    inbox: Inbox
    outbox: Outbox
    renames: SessionRenames
    unanswered: UnansweredStore
    sessions: Sessions
    schedules: ScheduleStore
    waiter: ReplyWaiter
    streams: CallStreams
    health: HealthStore
    meter: Meter
    max_body_kb: int
    span: Span = no_span

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        try:
            return await self._handle(channel_id, instance_id, call)
        except Refusal as refusal:
            return self._refused(channel_id, call, refusal)

    async def stream(
        self, channel_id: str, instance_id: int, call: RawCall
    ) -> AsyncGenerator[RawAnswer | bytes, None]:
        begun = False
        try:
            instance, channel, received = await self._received(channel_id, instance_id, call)
            streamer = channel.call_streamer
            if streamer is None or not received.streams:
                raise Invalid("this call is not answered as a stream")
            self.meter.received(channel_id, received.kind)
            with self.streams.counted(instance_id):
                if received.inquiry:
                    stored = await self.streams.find(instance_id, received.inquiry)
                    inbox_id, event = stored.id, stored.event
                for event in received.events:
                    [accepted] = await self._add(instance, channel, [event], streamer.kept_seconds)
                    inbox_id = accepted.id
                writer = streamer.writer(channel.config.load(instance.config), call, event)
                async with aclosing(self.streams.write(instance, inbox_id, writer)) as pieces:
                    async for piece in pieces:
                        begun = begun or isinstance(piece, RawAnswer)
                        yield piece
        except Refusal as refusal:
            if begun:
                raise
            yield self._refused(channel_id, call, refusal)

    def _refused(self, channel_id: str, call: RawCall, refusal: Refusal) -> RawAnswer:
        """The refusal as the channel writes it. Raises it where the channel does not."""
        channel = self.channels.find(channel_id)
        if channel is None or channel.call_streamer is None:
            raise refusal
        return channel.call_streamer.refused(call, refusal)

    async def _received(
        self, channel_id: str, instance_id: int, call: RawCall
    ) -> tuple[Instance, AnyChannel, Received]:
        if len(call.body) > self.max_body_kb * 1024:
            raise TooLarge(f"the body is over {self.max_body_kb} KB")
        if PUSH_HEADER in call.headers:
            raise Invalid(
                "a subscription to events must not call this service: each push would make more events"
            )
        instance = await self.instances.cached(instance_id)
        if instance is None or instance.channel_id != channel_id or instance.status != ACTIVE:
            raise NotFound(f"there is no instance {instance_id} of the channel '{channel_id[:100]}'")
        channel = self.channels.find(channel_id)
        if channel is None or channel.webhook is None:
            raise NotFound(f"the channel '{channel_id}' takes no callbacks")
        return instance, channel, await self.verifier.verify(instance, channel, channel.webhook, call)

    async def _handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        traceparent = call.headers.get("traceparent", "")
        with self.span("callback", traceparent, channel=channel_id, instance=instance_id, request=call.id):
            instance, channel, received = await self._received(channel_id, instance_id, call)
            if received.streams:
                return TO_BE_STREAMED
            self.meter.received(channel_id, received.kind)
            await self._take_notices(instance, received)
            events = []
            for event in received.events:
                if event.refused:
                    await self.unanswered.add(instance.id, await self.renames.resolved(instance.id, event))
                else:
                    events.append(event)
            return (
                await self._store(instance, channel, events, received.answer) if events else received.answer
            )

    async def _take_notices(self, instance: Instance, received: Received) -> None:
        """Takes what the call tells beside events: delivery statuses, new names of sessions, who wants no more
        messages, and that a poll would find news."""
        for status in received.delivery_statuses:
            if await self.outbox.record_status(instance.id, status) and not status.of_recipient:
                reason = f"sending a reply: {status.detail or status.state}"
                await self.health.failed(instance.id, Activity.SENDING, reason)
        if received.missing_proof_field is None:  # else anybody could take over a conversation, or end it
            for rename in received.session_renames:
                await self.renames.rename(instance.id, rename)
            for alias in received.session_aliases:
                await self.renames.join(instance.id, alias)
            for opt_out in received.opt_outs:
                await self.sessions.record_opt_out(instance.id, opt_out)
        if received.kind == POLL:
            await self.schedules.due_now(instance.id)

    async def _store(
        self, instance: Instance, channel: AnyChannel, events: Sequence[Event], acknowledgement: RawAnswer
    ) -> RawAnswer:
        """Stores the events. Returns the acknowledgement, or the answer to the first event that awaits one."""
        responder = channel.call_responder
        positions = [position for position, event in enumerate(events) if event.awaits_reply]
        if responder is None or not positions:
            await self._add(instance, channel, events, None)
            return acknowledgement
        accepted = await self._add(instance, channel, events, responder.wait_seconds)
        waiting = positions[0]
        result = await self.waiter.wait(instance, accepted[waiting], responder.wait_seconds)
        config = channel.config.load(instance.config)
        return responder.answer_in_call(config, events[waiting], result.outcome, result.answer)

    async def _add(
        self, instance: Instance, channel: AnyChannel, events: Sequence[Event], wait: float | None
    ) -> Sequence[Accepted]:
        """`wait`: the call waits for its answer that long. Raises `NotFound` where the instance was removed, and what
        the inbox raises; any failure but an outage shows in the health of the instance."""
        config = channel.config.load(instance.config)
        placed = []
        for event in events:
            at_place = await channel.placer.placed(config, event) if channel.placer else event
            placed.append(await self.renames.resolved(instance.id, at_place))
        try:
            accepted = await self.inbox.add(instance.id, placed, wait)
        except StorageAway:
            raise
        except Exception as failure:
            reason = f"storing a message: {reason_of(failure)}"
            await self.health.failed(instance.id, Activity.RECEIVING, reason)
            raise
        for stored in accepted:
            if stored.dropped:
                continue
            if stored.id == 0:
                raise NotFound(f"there is no instance {instance.id} of the channel '{instance.channel_id}'")
            self.meter.accepted(instance.channel_id, stored.fresh)
        if channel.scheduler and channel.scheduler.fires_once(config):
            await self.instances.retire(instance.id)
        return accepted


async def _unless_unavailable(lookup: Awaitable[CallResult | None]) -> CallResult | None:
    """None in an outage of the database: the message is accepted, so that the call must not be told to try again."""
    try:
        return await lookup
    except Unavailable:
        return None
