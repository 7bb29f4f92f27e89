"""Reads count against the same concurrency limit of a credential as messages."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from domain.channels.limits import Limits
from domain.delivery.concurrency.service import ConcurrencyLimiter
from domain.delivery.rate_limits.model import account_key
from domain.instances.model import Instance
from ports.channels import AnyChannel

log = logging.getLogger(__name__)


class ReadLimiter:
    """Gives polls and downloads slots of the credential that they use."""

    def __init__(self, slots: ConcurrencyLimiter) -> None:
        self._slots = slots

    @asynccontextmanager
    async def slot(self, instance: Instance, channel: AnyChannel) -> AsyncIterator[None]:
        """Waits for a slot, and holds it for as long as the block runs."""
        limits = self._limits(instance, channel)
        if limits is None:
            yield
            return
        async with self._slots.slot(account_key(instance.channel_id, limits), limits.max_concurrency):
            yield

    @staticmethod
    def _limits(instance: Instance, channel: AnyChannel) -> Limits | None:
        """None where the channel knows no limits or cannot tell them."""
        try:
            config = channel.config.load(instance.config)
            if channel.read_limits:
                return channel.read_limits.read_limits(config)
            return channel.limits.limits(config, channel.target.load({})) if channel.limits else None
        except Exception:
            log.exception("a channel could not tell its limits", extra={"instance": instance.id})
            return None
