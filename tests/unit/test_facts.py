"""Facts of channels: fetched once, kept, renewed when they do not suffice, and never in the way."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from adapters.outbound import facts as module
from adapters.outbound.facts import MemoryFacts
from domain.channels.messages import ChannelMetadata, Config
from domain.instances.model import Instance
from ports.channels import PlatformError

NOW = datetime(2026, 11, 20, tzinfo=UTC)


class Platform:
    """Gives out 1, 2, 3, ... or fails."""

    facts_ttl = 3600.0

    def __init__(self) -> None:
        self.fetches = 0
        self.is_away = False

    async def facts(self, config: Config) -> ChannelMetadata:
        self.fetches += 1
        await asyncio.sleep(0)
        if self.is_away:
            raise PlatformError("away")
        return {"fetch": self.fetches, **config}


def instance(number: int = 7, **config: str) -> Instance:
    return Instance(number, "ann", "enterprise-chat", "Bot", config, None, NOW, NOW)


async def test_facts_are_fetched_once() -> None:
    facts, platform = MemoryFacts(), Platform()
    found = await asyncio.gather(*(facts.of(instance(), platform) for _ in range(10)))
    assert {each["fetch"] for each in found} == {1}


async def test_another_config_has_other_facts() -> None:
    facts, platform = MemoryFacts(), Platform()
    await facts.of(instance(appId="a"), platform)
    assert (await facts.of(instance(appId="b"), platform))["appId"] == "b"


async def test_a_platform_that_is_away_leaves_the_last_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, platform = MemoryFacts(), Platform()
    platform.facts_ttl = 0.0
    await facts.of(instance(), platform)
    platform.is_away = True
    assert (await facts.of(instance(), platform))["fetch"] == 1
    assert await facts.of(instance(8), platform) == {}


async def test_facts_that_do_not_suffice_are_renewed_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, platform = MemoryFacts(), Platform()
    await facts.of(instance(), platform)
    renewed = await facts.renewed(instance(), platform)
    assert renewed is not None
    assert renewed["fetch"] == 2
    assert await facts.renewed(instance(), platform) is None
    assert (await facts.of(instance(), platform))["fetch"] == 2
    monkeypatch.setattr(module, "RENEW_SECONDS", -1.0)
    assert await facts.renewed(instance(), platform) is not None


async def test_renewing_one_instance_leaves_others_theirs() -> None:
    facts, platform = MemoryFacts(), Platform()
    assert await facts.renewed(instance(7), platform) is not None
    assert await facts.renewed(instance(8), platform) is not None
