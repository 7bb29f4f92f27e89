"""Shows drafts within the limits of platforms."""

import asyncio
import logging
from dataclasses import dataclass

from domain.channels.answers import OutboundMessage
from domain.channels.messages import Outcome, Sent
from domain.delivery.concurrency import known_limits
from domain.delivery.model import send_request
from domain.delivery.rate_limits import RateLimiter
from domain.refusals import reason_of
from ports.channels import DraftAddress

log = logging.getLogger(__name__)

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
        if channel.streaming is None:
            return Sent(Outcome.PERMANENT, "the channel shows no drafts")
        try:
            config, target = channel.config.load(instance.config), channel.target.load(address.target)
            limits = known_limits(instance, channel, address.target)
            request = send_request(
                instance.id, instance.channel_id, address.session_key, limits, edit=bool(draft)
            )
            if wait := await self.limiter.acquire_now(request):
                return Sent(Outcome.RETRY_AFTER, "the platform's limits leave no room", retry_after=wait)
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    sent = await channel.streaming.draft(config, target, message, draft, address.key)
            except TimeoutError:
                sent = Sent(Outcome.UNKNOWN, f"the platform does not answer within {CALL_SECONDS:g} s")
            finally:
                self.limiter.release(request)
            if sent.outcome in _TELLING:
                await self.limiter.record(request, sent)
        except Exception as failure:
            log.exception("a draft could not be shown", extra={"instance": instance.id})
            return Sent(Outcome.PERMANENT, reason_of(failure))
        return sent
