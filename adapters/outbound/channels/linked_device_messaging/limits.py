"""Whom WhatsApp's limits bind: the linked account. Its numbers are not published."""

from __future__ import annotations

from adapters.outbound.channels.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "phoneNumber"), text(target, "chat"))
