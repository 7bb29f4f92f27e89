"""Replies go out: part by part, in order within a conversation."""

from __future__ import annotations

import logging

from domain.channels.messages import Outcome, Sent
from domain.delivery.pacing.model import Sending, sending_of
from domain.delivery.pacing.service import Pacer
from domain.delivery.rules import next_delay
from domain.instances.model import Activity, Instance
from ports.channels import Channels, Limited, Replies
from ports.clock import Clock, Ids
from ports.metrics import Meter
from ports.storage import HealthStore, InstanceStore, Lane, Outbox, Outgoing, OutgoingLane

log = logging.getLogger(__name__)

NOBODY_SENDS = "the instance is gone or its channel sends nothing"


class DeliveryService:
    """Sends the parts of leased lanes."""

    def __init__(
        self,
        outbox: Outbox,
        instances: InstanceStore,
        channels: Channels,
        health: HealthStore,
        pacer: Pacer,
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

    async def work(self, leased: OutgoingLane) -> None:
        """Sends the parts in order; a part that must wait holds back those behind it."""
        for position, outgoing in enumerate(leased.parts, start=1):
            last = position == len(leased.parts)
            instance = await self._instances.cached(leased.lane.instance_id)
            channel = self._channels.find(instance.channel_id) if instance else None
            if instance is None or not isinstance(channel, Replies):
                await self._outbox.dead(leased.lane, outgoing, NOBODY_SENDS, last=last)
                continue
            sending = self._sending(instance, channel, leased.lane, outgoing)
            later = await self._pacer.turn(sending)
            if later:
                await self._outbox.release(leased.lane, later)
                return
            sent = await self._send(channel, instance, outgoing)
            await self._pacer.ended(sending, sent)
            if sent.outcome is Outcome.SENT:
                await self._outbox.sent(leased.lane, outgoing, sent.ref, last=last)
                continue
            delay = next_delay(sent, outgoing.attempts, self._ids.chance())
            if delay is not None:
                await self._outbox.retry(leased.lane, outgoing, sent.detail, delay)
                return
            await self._outbox.dead(leased.lane, outgoing, sent.detail, last=last)

    def _sending(self, instance: Instance, channel: Replies, lane: Lane, outgoing: Outgoing) -> Sending:
        """What the part counts against. A channel that cannot say it is taken for one without limits."""
        limits = None
        if isinstance(channel, Limited):
            try:
                limits = channel.limits(instance.config, outgoing.target)
            except Exception:
                log.exception("a channel could not tell its limits", extra={"instance": instance.id})
        return sending_of(instance.id, instance.channel_id, lane.key, limits)

    async def _send(self, channel: Replies, instance: Instance, outgoing: Outgoing) -> Sent:
        started = self._clock.now()
        sent = await self._tried(channel, instance, outgoing)
        seconds = (self._clock.now() - started).total_seconds()
        self._meter.delivered(instance.channel_id, sent.outcome, seconds)
        if sent.outcome is not Outcome.SENT:
            await self._health.failed(instance.id, Activity.SENDING, f"sending a reply: {sent.detail}")
            log.warning("a reply was not taken: %s", sent.detail, extra={"instance": instance.id})
        else:
            await self._health.succeeded(instance.id, Activity.SENDING)
        return sent

    async def _tried(self, channel: Replies, instance: Instance, outgoing: Outgoing) -> Sent:
        try:
            return await channel.send(instance.config, outgoing.target, outgoing.part, outgoing.key)
        except Exception as unexpected:
            log.exception("a channel failed to send", extra={"instance": instance.id})
            return Sent(Outcome.UNKNOWN, f"internal error: {type(unexpected).__name__}")
