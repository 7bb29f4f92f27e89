"""Whom a mail server's limits bind: the account that it is sent with. Each provider has numbers of its own."""

from __future__ import annotations

from adapters.outbound.channels.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target


def limits(config: Config, target: Target) -> Limits:
    return Limits(f"{text(config, 'smtpHost')} {text(config, 'username')}", text(target, "to"))
