"""Whom a Mattermost server's rate limit binds: the account that calls.

Its numbers are the server's own setting, off by default
(https://docs.mattermost.com/configure/rate-limiting-configuration-settings.html). A server is often small: 16 calls
at a time are our choice.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import Config, Target

MAX_CONCURRENCY = 16


def limits(config: Config, target: Target) -> Limits:
    return Limits(f"{text(config, 'SERVER_URL')} {text(config, 'token')}", max_concurrency=MAX_CONCURRENCY)
