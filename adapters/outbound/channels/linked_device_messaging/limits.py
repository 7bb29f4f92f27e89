"""Whom WhatsApp's limits bind: the linked account. Its numbers are not published.

All messages of an account go over one connection; four at a time are our choice.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target

MAX_CONCURRENCY = 4


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "phoneNumber"), text(target, "chat"), max_concurrency=MAX_CONCURRENCY)
