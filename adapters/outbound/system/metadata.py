"""Metadata of channels, kept in memory for as long as the channel says."""

import asyncio
import logging
import time

from domain.channels.messages import ChannelMetadata, Config
from domain.instances.model import Instance
from ports.capabilities import PlatformError
from ports.channels import AnyChannel
from ports.http import HttpFailed

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
RENEW_SECONDS = 60.0
"""How long after a renewal the next one may come: whoever forges calls must not make us fetch."""


class MemoryMetadata:
    """One fetch at a time per instance; a failed one is tried again after a few seconds at the earliest."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[float, Config, ChannelMetadata]] = {}
        self._locks: dict[int, asyncio.Lock] = {}
        self._renewed: dict[int, float] = {}

    async def of(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata:
        held = self._fresh(instance)
        if held is not None:
            return held
        async with self._locks.setdefault(instance.id, asyncio.Lock()):
            held = self._fresh(instance)
            return held if held is not None else await self._fetch(instance, channel)

    async def renewed(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata | None:
        if time.monotonic() < self._renewed.get(instance.id, float("-inf")) + RENEW_SECONDS:
            return None
        self._renewed[instance.id] = time.monotonic()
        async with self._locks.setdefault(instance.id, asyncio.Lock()):
            return await self._fetch(instance, channel)

    def _fresh(self, instance: Instance) -> ChannelMetadata | None:
        held = self._held.get(instance.id)
        if held and held[1] == instance.config and time.monotonic() < held[0]:
            return held[2]
        return None

    async def _fetch(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata:
        metadata: ChannelMetadata = {}
        seconds = RETRY_SECONDS
        try:
            if source := channel.metadata:
                metadata = await source.fetch_metadata(channel.config.load(instance.config))
                seconds = source.metadata_seconds
        except (PlatformError, HttpFailed) as error:
            log.warning(
                "the platform's metadata could not be fetched: %s", error, extra={"instance": instance.id}
            )
            last = self._held.get(instance.id)
            metadata = last[2] if last and last[1] == instance.config else {}
        self._held[instance.id] = (time.monotonic() + seconds, instance.config, metadata)
        return metadata

    def forget(self, instance_id: int | None) -> None:
        """Drops the metadata of one instance, or of all."""
        if instance_id is None:
            self._held.clear()
        else:
            self._held.pop(instance_id, None)
