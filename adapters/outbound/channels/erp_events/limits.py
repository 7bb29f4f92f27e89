"""Whom an Odoo server's limits bind: the user that signs in.

Odoo publishes no numbers. Each call takes a connection of the server's database pool, of which a server has 64 by
default (`db_maxconn`) for all its users, and one of a few workers: more than two calls at a time are felt by others.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target

MAX_CONCURRENCY = 2


def limits(config: Config, target: Target) -> Limits:
    server = text(config, "erpUrl").rstrip("/").lower()
    user = (text(config, name) for name in ("database", "username"))
    return Limits(" ".join((server, *user)), max_concurrency=MAX_CONCURRENCY)
