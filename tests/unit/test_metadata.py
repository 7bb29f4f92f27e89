"""Metadata of channels: fetched once, kept, renewed when they do not suffice, and never in the way."""

import asyncio
from datetime import UTC, datetime

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from adapters.outbound.system import metadata as module
from adapters.outbound.system.metadata import MemoryMetadata
from domain.channels.messages import ChannelMetadata, Config
from domain.instances.model import Instance
from ports.capabilities import PlatformError

NOW = datetime(2026, 11, 20, tzinfo=UTC)


class Platform:
    """Gives out 1, 2, 3, ... or fails."""

    metadata_seconds = 3600.0

    def __init__(self) -> None:
        self.fetches = 0
        self.is_away = False

    async def fetch_metadata(self, config: Config) -> ChannelMetadata:
        self.fetches += 1
        await asyncio.sleep(0)
        if self.is_away:
            raise PlatformError("away")
        return {"fetch": self.fetches, **config}


def instance(number: int = 7, **config: str) -> Instance:
    return Instance(number, "ann", "enterprise-chat", "Bot", config, None, NOW, NOW)


async def test_metadata_are_fetched_once() -> None:
    cache, platform = MemoryMetadata(), Platform()
    found = await asyncio.gather(*(cache.of(instance(), a_channel(metadata=platform)) for _ in range(10)))
    assert {each["fetch"] for each in found} == {1}


async def test_another_config_has_other_metadata() -> None:
    cache, platform = MemoryMetadata(), Platform()
    await cache.of(instance(appId="a"), a_channel(metadata=platform))
    assert (await cache.of(instance(appId="b"), a_channel(metadata=platform)))["appId"] == "b"


async def test_a_platform_that_is_away_leaves_the_last_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, platform = MemoryMetadata(), Platform()
    platform.metadata_seconds = 0.0
    await cache.of(instance(), a_channel(metadata=platform))
    platform.is_away = True
    assert (await cache.of(instance(), a_channel(metadata=platform)))["fetch"] == 1
    assert await cache.of(instance(8), a_channel(metadata=platform)) == {}


async def test_metadata_that_do_not_suffice_are_renewed_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache, platform = MemoryMetadata(), Platform()
    await cache.of(instance(), a_channel(metadata=platform))
    renewed = await cache.renewed(instance(), a_channel(metadata=platform))
    assert renewed is not None
    assert renewed["fetch"] == 2
    assert await cache.renewed(instance(), a_channel(metadata=platform)) is None
    assert (await cache.of(instance(), a_channel(metadata=platform)))["fetch"] == 2
    monkeypatch.setattr(module, "RENEW_SECONDS", -1.0)
    assert await cache.renewed(instance(), a_channel(metadata=platform)) is not None


async def test_renewing_one_instance_leaves_others_theirs() -> None:
    cache, platform = MemoryMetadata(), Platform()
    assert await cache.renewed(instance(7), a_channel(metadata=platform)) is not None
    assert await cache.renewed(instance(8), a_channel(metadata=platform)) is not None
