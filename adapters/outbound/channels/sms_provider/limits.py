"""Whom Twilio's limits bind: the account, whose messages Twilio queues at the pace of its numbers.

It answers 429 only to too many requests at a time (https://www.twilio.com/docs/api/errors/20429).
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "accountSid"))
