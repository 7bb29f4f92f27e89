"""Whom an Odoo server's limits bind: the user that signs in. Odoo publishes no numbers."""

from __future__ import annotations

from adapters.outbound.channels.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target


def limits(config: Config, target: Target) -> Limits:
    return Limits(" ".join(text(config, name) for name in ("erpUrl", "database", "username")))
