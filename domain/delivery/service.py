"""Replies go out: part by part, in order within a conversation."""

from __future__ import annotations

import logging

from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.delivery.pacing.model import Sending, sending_of
from domain.delivery.pacing.service import RateLimiter
from domain.delivery.rules import next_delay
from domain.instances.model import Activity, Instance
from domain.refusals import Refusal, StorageAway, Unavailable
from ports.capabilities import ReplySender
from ports.channels import AnyChannel, Channels
from ports.clock import Clock, Ids
from ports.metrics import Meter
from ports.storage import HealthStore, InstanceStore, Outbox, QueuedMessage, QueuedMessages, QueueKey

log = logging.getLogger(__name__)

Sender = ReplySender[ChannelConfig, ChannelTarget]

MOST_FAULTS = 5
"""After so many tries a part is given up where the last one failed by a fault of ours."""
MOST_UNRECORDED = 10_000
"""So many parts are remembered that a platform took and that are not on record as sent."""
NOBODY_SENDS = "the instance is gone or its channel sends nothing"


class DeliveryService:
    """Sends the parts of leased lanes."""

    def __init__(
        self,
        outbox: Outbox,
        instances: InstanceStore,
        channels: Channels,
        health: HealthStore,
        pacer: RateLimiter,
        clock: Clock,
        ids: Ids,
        meter: Meter,
    ) -> None:
        self._outbox = outbox
        self._instances = instances
        self._channels = channels
        self._health = health
        self._pacer = pacer
        self._clock = clock
        self._ids = ids
        self._meter = meter
        self._unrecorded: dict[tuple[int, str], str] = {}
        self._faults: dict[tuple[int, str], int] = {}

    async def work(self, leased: QueuedMessages) -> None:
        """Sends the parts in order; a part that must wait holds back those behind it. An outage of the database
        leaves them for later; any other failure is counted, and ends the work on its part."""
        for position, outgoing in enumerate(leased.parts, start=1):
            last = position == len(leased.parts)
            try:
                goes_on = await self._worked(leased.lane, outgoing, last)
                if goes_on:
                    self._faults.pop((outgoing.id, outgoing.key), None)
            except StorageAway:
                raise
            except Exception as failure:  # noqa: BLE001 - logged there
                goes_on = await self._failed(leased.lane, outgoing, failure, last)
            if not goes_on:
                return

    async def _worked(self, lane: QueueKey, outgoing: QueuedMessage, last: bool) -> bool:
        """Whether the part is done with, so that the next one may follow."""
        instance = await self._instances.cached(lane.instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        if instance is None or channel is None or channel.sender is None:
            await self._outbox.dead(lane, outgoing, NOBODY_SENDS, last=last)
            return True
        if outgoing.unreadable:
            await self._health.failed(
                instance.id, Activity.SENDING, f"sending a reply: {outgoing.unreadable}"
            )
            await self._outbox.dead(lane, outgoing, outgoing.unreadable, last=last)
            return True
        if self._faults.get((outgoing.id, outgoing.key), 0) >= MOST_FAULTS:
            await self._give_up(lane, outgoing, f"it failed {MOST_FAULTS} times", last)
            return True
        ref = self._unrecorded.get((outgoing.id, outgoing.key))
        if ref is not None:
            await self._taken(lane, outgoing, ref, last)
            return True
        sending = self._sending(instance, channel, lane, outgoing)
        later = await self._pacer.turn(sending)
        if later:
            await self._outbox.release(lane, later)
            return False
        try:
            sent = await self._send(channel, channel.sender, instance, outgoing)
        finally:
            self._pacer.left(sending)
        await self._pacer.ended(sending, sent)
        if sent.outcome is Outcome.SENT:
            await self._taken(lane, outgoing, sent.ref, last)
            return True
        return await self._refused(lane, outgoing, sent, last)

    async def _taken(self, lane: QueueKey, outgoing: QueuedMessage, ref: str, last: bool) -> None:
        """A part that the platform took must not be sent again: it is on record without its id where the id cannot
        be stored, and remembered here until it is on record."""
        if len(self._unrecorded) >= MOST_UNRECORDED:
            self._unrecorded.clear()
        self._unrecorded[outgoing.id, outgoing.key] = ref
        try:
            await self._outbox.sent(lane, outgoing, ref, last=last)
        except Unavailable:
            raise
        except Exception:
            log.exception("the id of a part could not be stored", extra={"instance": lane.instance_id})
            await self._outbox.sent(lane, outgoing, "", last=last)
        self._unrecorded.pop((outgoing.id, outgoing.key), None)

    async def _refused(self, lane: QueueKey, outgoing: QueuedMessage, sent: Sent, last: bool) -> bool:
        delay = next_delay(sent, outgoing.attempts, self._ids.chance())
        if delay is not None:
            await self._outbox.retry(lane, outgoing, sent.detail, delay)
            return False
        await self._outbox.dead(lane, outgoing, sent.detail, last=last)
        return True

    async def _failed(self, lane: QueueKey, outgoing: QueuedMessage, failure: Exception, last: bool) -> bool:
        """Nothing of the platform: a fault of ours, that more than a few tries do not mend."""
        log.error("the work on a reply failed", exc_info=failure, extra={"instance": lane.instance_id})
        reason = (
            failure.message if isinstance(failure, Refusal) else f"internal error: {type(failure).__name__}"
        )
        await self._health.failed(lane.instance_id, Activity.SENDING, f"sending a reply: {reason}")
        if len(self._faults) >= MOST_UNRECORDED:
            self._faults.clear()
        name = outgoing.id, outgoing.key
        faults = self._faults[name] = self._faults.get(name, 0) + 1
        if max(outgoing.attempts + 1, faults) < MOST_FAULTS:
            return await self._refused(lane, outgoing, Sent(Outcome.UNKNOWN, reason), last)
        await self._give_up(lane, outgoing, reason, last)
        self._faults.pop(name, None)
        self._unrecorded.pop(name, None)
        return True

    async def _give_up(self, lane: QueueKey, outgoing: QueuedMessage, reason: str, last: bool) -> None:
        """A part is removed that cannot even become a dead letter, or that the platform took."""
        if (outgoing.id, outgoing.key) not in self._unrecorded:
            try:
                return await self._outbox.dead(lane, outgoing, reason, last=last)
            except StorageAway:
                raise
            except Exception:
                log.exception("a dead letter could not be stored", extra={"instance": lane.instance_id})
        log.error("a reply is removed: %s", reason, extra={"instance": lane.instance_id})
        await self._outbox.drop(lane.instance_id, outgoing.id)
        if last:
            await self._outbox.release(lane)
        return None

    def _sending(
        self, instance: Instance, channel: AnyChannel, lane: QueueKey, outgoing: QueuedMessage
    ) -> Sending:
        """What the part counts against. A channel that cannot say it is taken for one without limits."""
        limits = None
        if channel.limits:
            try:
                target = channel.target.load(outgoing.target)
                limits = channel.limits.limits(channel.config.load(instance.config), target)
            except Exception:
                log.exception("a channel could not tell its limits", extra={"instance": instance.id})
        return sending_of(instance.id, instance.channel_id, lane.key, limits)

    async def _send(
        self, channel: AnyChannel, sender: Sender, instance: Instance, outgoing: QueuedMessage
    ) -> Sent:
        started = self._clock.now()
        sent = await self._tried(channel, sender, instance, outgoing)
        seconds = (self._clock.now() - started).total_seconds()
        self._meter.delivered(instance.channel_id, sent.outcome, seconds)
        if sent.outcome is not Outcome.SENT:
            await self._health.failed(instance.id, Activity.SENDING, f"sending a reply: {sent.detail}")
            log.warning("a reply was not taken: %s", sent.detail, extra={"instance": instance.id})
        else:
            await self._health.succeeded(instance.id, Activity.SENDING)
        return sent

    async def _tried(
        self, channel: AnyChannel, sender: Sender, instance: Instance, outgoing: QueuedMessage
    ) -> Sent:
        try:
            config, target = channel.config.load(instance.config), channel.target.load(outgoing.target)
            return await sender.send(config, target, outgoing.part, outgoing.key)
        except Exception as unexpected:
            log.exception("a channel failed to send", extra={"instance": instance.id})
            return Sent(Outcome.UNKNOWN, f"internal error: {type(unexpected).__name__}")
