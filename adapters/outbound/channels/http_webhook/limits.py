"""Whom the limits of a response address bind: what goes to that address, whichever instance it comes from."""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(target, "url"))
