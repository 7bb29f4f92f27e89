"""Sends messages and drafts, within the limits of platforms."""

import asyncio
import logging
from dataclasses import dataclass

from domain.channels.answers import OutboundMessage
from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.delivery.model import SendRequest
from domain.delivery.rate_limits import RateLimiter, request_for
from domain.instances.model import Activity, Instance
from domain.refusals import reason_of
from ports.capabilities import ReplySender
from ports.channels import AnyChannel, DraftAddress
from ports.instances import HealthStore
from ports.outbox import QueuedMessage
from ports.queue import QueueKey, TypingSigns
from ports.system import Clock, Meter

log = logging.getLogger(__name__)

Sender = ReplySender[ChannelConfig, ChannelTarget]


@dataclass(eq=False)
class MessageSender:
    limiter: RateLimiter
    health: HealthStore
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
            config, target = channel.config.load(instance.config), channel.target.load(message.target)
            sent = await sender.send(config, target, message.message, message.key)
        except Exception as unexpected:
            log.exception("a channel failed to send", extra={"instance": instance.id})
            sent = Sent(Outcome.UNKNOWN, reason_of(unexpected))
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


CALL_SECONDS = 5.0
"""What a platform gets for one edit: the answer waits for the last one."""
_TELLING = (Outcome.SENT, Outcome.RETRY_AFTER)
"""What the rate limiter learns from a draft. Whether a platform answers at all, it learns from the answers."""


@dataclass(eq=False)
class LimitedDrafts:
    """`ports.channels.DraftSender`. A draft counts as a message and waits for none: where the limits leave no room it
    is left out. A pause that the platform asks for holds for the answer too."""

    limiter: RateLimiter

    async def show(self, address: DraftAddress, message: OutboundMessage, draft: str) -> Sent:
        instance, channel = address.instance, address.channel
        try:
            request = request_for(instance, channel, address.session_key, address.target, edit=bool(draft))
            if wait := await self.limiter.acquire_now(request):
                return Sent(Outcome.RETRY_AFTER, "the platform's limits leave no room", retry_after=wait)
            try:
                sent = await _draft(address, message, draft)
            finally:
                self.limiter.release(request)
            if sent.outcome in _TELLING:
                await self.limiter.record(request, sent)
        except Exception as failure:
            log.exception("a draft could not be shown", extra={"instance": instance.id})
            return Sent(Outcome.PERMANENT, reason_of(failure))
        return sent


async def _draft(address: DraftAddress, message: OutboundMessage, draft: str) -> Sent:
    channel = address.channel
    if channel.streaming is None:
        return Sent(Outcome.PERMANENT, "the channel shows no drafts")
    config, target = channel.config.load(address.instance.config), channel.target.load(address.target)
    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await channel.streaming.draft(config, target, message, draft, address.key)
    except TimeoutError:
        return Sent(Outcome.UNKNOWN, f"the platform does not answer within {CALL_SECONDS:g} s")
