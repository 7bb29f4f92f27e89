"""Sends one message and records how that ended."""

import logging
from dataclasses import dataclass

from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.delivery.rate_limits.model import SendRequest
from domain.delivery.rate_limits.service import RateLimiter
from domain.instances.model import Activity, Instance
from domain.refusals import reason_of
from ports.channels import AnyChannel
from ports.clock import Clock
from ports.instances import HealthRecorder
from ports.metrics import Meter
from ports.outbox import QueuedMessage
from ports.queue import QueueKey
from ports.reply_capabilities import ReplySender
from ports.typing_signs import TypingSigns

log = logging.getLogger(__name__)

Sender = ReplySender[ChannelConfig, ChannelTarget]


@dataclass(eq=False)
class MessageSender:
    limiter: RateLimiter
    health: HealthRecorder
    clock: Clock
    meter: Meter
    typing: TypingSigns

    async def send(
        self,
        request: SendRequest,
        instance: Instance,
        channel: AnyChannel,
        sender: Sender,
        message: QueuedMessage,
    ) -> Sent:
        """Sends a message for which the rate limiter was acquired."""
        self.typing.stop(QueueKey(request.instance_id, request.queue_key))
        started = self.clock.now()
        try:
            sent = await _send(instance, channel, sender, message)
        finally:
            self.limiter.release(request)
        seconds = (self.clock.now() - started).total_seconds()
        self.meter.delivered(instance.channel_id, sent.outcome, seconds)
        if sent.outcome is Outcome.SENT:
            await self.health.succeeded(instance.id, Activity.SENDING)
        else:
            if not sent.of_recipient:
                await self.health.failed(instance.id, Activity.SENDING, f"sending a reply: {sent.detail}")
            log.warning("a reply was not taken: %s", sent.detail, extra={"instance": instance.id})
        await self.limiter.record(request, sent)
        return sent


async def _send(instance: Instance, channel: AnyChannel, sender: Sender, message: QueuedMessage) -> Sent:
    try:
        config, target = channel.config.load(instance.config), channel.target.load(message.target)
        return await sender.send(config, target, message.message, message.key)
    except Exception as unexpected:
        log.exception("a channel failed to send", extra={"instance": instance.id})
        return Sent(Outcome.UNKNOWN, reason_of(unexpected))
