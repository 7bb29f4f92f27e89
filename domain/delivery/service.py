"""Replies are sent: message by message, in order within a conversation."""

import logging
from dataclasses import dataclass, field

from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.delivery.concurrency import known_limits
from domain.delivery.model import LATE, OPTED_OUT, next_delay, send_request
from domain.delivery.rate_limits import RateLimiter
from domain.faults import Faults, RowName
from domain.instances.model import Activity, Instance
from domain.refusals import StorageAway, Unavailable, reason_of
from domain.routing.indicators import LingeringTyping
from domain.values import value
from ports.capabilities import ReplySender
from ports.channels import AnyChannel, Channels
from ports.instances import HealthStore, InstanceStore
from ports.outbox import Outbox, QueuedMessage, QueuedMessages
from ports.queue import QueueKey, Sessions
from ports.system import Clock, Ids, Meter, Span, no_span

log = logging.getLogger(__name__)

MAX_FAULTS = 5
"""After so many tries a message is given up where the last one failed by a fault of the service."""
NO_SENDER = "the instance was removed, or its channel cannot send"


@value
class _Delivery:
    """`last`: its message is the last one that was leased."""

    key: QueueKey
    message: QueuedMessage
    last: bool

    @property
    def row(self) -> RowName:
        return self.message.id, self.message.key


@dataclass(eq=False)
class DeliveryService:
    """Sends the messages of leased queues."""

    outbox: Outbox
    instances: InstanceStore
    channels: Channels
    health: HealthStore
    limiter: RateLimiter
    ids: Ids
    sessions: Sessions
    clock: Clock
    meter: Meter
    typing: LingeringTyping
    span: Span = no_span
    _faults: Faults = field(default_factory=Faults, init=False)

    async def work(self, leased: QueuedMessages) -> None:
        """Sends the messages in order; one that must wait delays those behind it. An outage of the database leaves
        them for later; any other failure is counted, and ends the work on its message."""
        with self.typing.during(leased.key):
            for position, message in enumerate(leased.messages, start=1):
                delivery = _Delivery(leased.key, message, last=position == len(leased.messages))
                try:
                    with self.span("delivery", message.trace, instance=leased.key.instance_id):
                        done = await self._deliver(delivery)
                except StorageAway:
                    raise
                except Exception as failure:  # noqa: BLE001 - logged there
                    done = await self._failed(delivery, failure)
                if not done:
                    return
                self._faults.forget(delivery.row)

    async def _deliver(self, delivery: _Delivery) -> bool:
        """Return True if the message is finished, so that the next one may follow."""
        instance = await self.instances.cached(delivery.key.instance_id)
        channel = self.channels.find(instance.channel_id) if instance else None
        if instance is None or channel is None or channel.sender is None:
            return await self._dead(delivery, NO_SENDER)
        message, fault = delivery.message, self._faults.find(delivery.row)
        if message.unreadable:
            await self.health.failed(instance.id, Activity.SENDING, f"sending a reply: {message.unreadable}")
            return await self._dead(delivery, message.unreadable)
        if fault.failures >= MAX_FAULTS:
            return await self._give_up(delivery, f"it failed {MAX_FAULTS} times")
        if fault.outcome is not None:
            return await self._record_sent(delivery, fault.outcome)
        if message.late:
            return await self._dead(delivery, LATE)
        if channel.takes_opt_outs and await self.sessions.is_queue_opted_out(delivery.key):
            return await self._dead(delivery, OPTED_OUT)
        return await self._send(delivery, instance, channel, channel.sender)

    async def _send(
        self,
        delivery: _Delivery,
        instance: Instance,
        channel: AnyChannel,
        sender: ReplySender[ChannelConfig, ChannelTarget],
    ) -> bool:
        key, message = delivery.key, delivery.message
        limits = known_limits(instance, channel, message.target)
        request = send_request(instance.id, instance.channel_id, key.session_key, limits)
        if wait := await self.limiter.acquire(request):
            await self.outbox.release(key, wait)
            return False
        self.typing.stop(key)
        started = self.clock.now()
        try:
            config, target = channel.config.load(instance.config), channel.target.load(message.target)
            sent = await sender.send(config, target, message.message, message.key)
        except Exception as unexpected:
            log.exception("a channel failed to send", extra=_extra(delivery))
            sent = Sent(Outcome.UNKNOWN, reason_of(unexpected))
        finally:
            self.limiter.release(request)
        seconds = (self.clock.now() - started).total_seconds()
        self.meter.delivered(instance.channel_id, sent.outcome, seconds)
        if sent.outcome is Outcome.SENT:
            await self.health.succeeded(instance.id, Activity.SENDING)
        else:
            log.warning("a reply was not taken: %s", sent.detail, extra=_extra(delivery))
            if not sent.of_recipient:
                await self.health.failed(instance.id, Activity.SENDING, f"sending a reply: {sent.detail}")
        await self.limiter.record(request, sent)
        if sent.outcome is Outcome.SENT:
            return await self._record_sent(delivery, sent.ref)
        return await self._retry_later(delivery, sent)

    async def _record_sent(self, delivery: _Delivery, ref: str) -> bool:
        """A message that the platform took must not be sent again: it is recorded without its id where the id cannot
        be stored, and remembered here until it is recorded."""
        self._faults.remember(delivery.row).outcome = ref
        try:
            await self.outbox.sent(delivery.key, delivery.message, ref, last=delivery.last)
        except Unavailable:
            raise
        except Exception:
            log.exception("the id of a message could not be stored", extra=_extra(delivery))
            await self.outbox.sent(delivery.key, delivery.message, "", last=delivery.last)
        return True

    async def _retry_later(self, delivery: _Delivery, sent: Sent) -> bool:
        """Plans the next try. After the last try the message is dead."""
        delay = next_delay(sent, delivery.message.attempts, self.ids.chance())
        if delay is None:
            return await self._dead(delivery, sent.detail)
        await self.outbox.retry(delivery.key, delivery.message, sent.detail, delay)
        return False

    async def _dead(self, delivery: _Delivery, error: str) -> bool:
        await self.outbox.dead(delivery.key, delivery.message, error, last=delivery.last)
        return True

    async def _failed(self, delivery: _Delivery, failure: Exception) -> bool:
        """Counts a fault of the service, which more than a few tries do not mend."""
        log.error("the work on a reply failed", exc_info=failure, extra=_extra(delivery))
        reason = reason_of(failure)
        await self.health.failed(delivery.key.instance_id, Activity.SENDING, f"sending a reply: {reason}")
        fault = self._faults.remember(delivery.row)
        fault.failures += 1
        if max(delivery.message.attempts + 1, fault.failures) < MAX_FAULTS:
            return await self._retry_later(delivery, Sent(Outcome.UNKNOWN, reason))
        return await self._give_up(delivery, reason)

    async def _give_up(self, delivery: _Delivery, reason: str) -> bool:
        """Removes a message that cannot even become a dead letter, or that the platform took."""
        if self._faults.find(delivery.row).outcome is None:
            try:
                return await self._dead(delivery, reason)
            except StorageAway:
                raise
            except Exception:
                log.exception("a dead letter could not be stored", extra=_extra(delivery))
        log.error("a reply is removed: %s", reason, extra=_extra(delivery))
        await self.outbox.drop(delivery.key.instance_id, delivery.message.id)
        if delivery.last:
            await self.outbox.release(delivery.key)
        return True


def _extra(delivery: _Delivery) -> dict[str, int]:
    return {"instance": delivery.key.instance_id}
