"""Checks of credentials: a platform that hangs, a configuration that cannot be read, and too many tries."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import NOW, SetClock, dependencies
from domain.access.model import Caller
from domain.access.sharing import InstanceLevel
from domain.conversations.forwarding import DestinationService
from domain.instances import checks
from domain.instances.checks import TRIES, TRIES_WITHIN, ConfigCheckService
from domain.instances.model import UNREADABLE, ConfigDraft, CredentialsState, Instance
from domain.refusals import Conflict, Forbidden, NotFound, TooMany
from ports.capabilities import PlatformError
from ports.http import HttpAnswer

ANN = Caller("ann")
BOT = ConfigDraft("bot-messenger", {"botToken": "1:a"})
STORED = Instance(5, "ann", "bot-messenger", "Bot", {"botToken": "1:stored"}, None, NOW, NOW)


@dataclass
class Platform:
    """A probe that does what it is told, in place of the one of the channel."""

    error: PlatformError | None = None
    hangs: bool = False
    tokens: list[str] = field(default_factory=list)

    async def probe(self, config: Any) -> None:
        self.tokens.append(config.bot_token)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error:
            raise self.error


class Channels:
    def __init__(self, platform: Platform) -> None:
        registry = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}"))))
        found = registry.find("bot-messenger")
        assert found is not None
        self._channel = replace(found, probe=platform)

    def find(self, channel_id: str) -> Any:
        return self._channel if channel_id == "bot-messenger" else None


@dataclass
class Store:
    instance: Instance = STORED

    async def find(self, instance_id: int) -> Instance | None:
        return self.instance if instance_id == self.instance.id else None

    async def levels(self, user_id: str, instance_ids: Sequence[int]) -> dict[int, InstanceLevel]:
        return {}


def service(platform: Platform, clock: SetClock, instance: Instance = STORED) -> ConfigCheckService:
    channels: Any = Channels(platform)
    store: Any = Store(instance)
    registration: Any = None
    destinations = DestinationService(store, channels, store)
    return ConfigCheckService(store, channels, registration, destinations, clock)


async def test_a_platform_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECK_SECONDS", 0.01)
    result = await service(Platform(hangs=True), SetClock()).credentials(ANN, BOT)
    assert result.state is CredentialsState.UNREACHABLE
    assert result.action


@pytest.mark.parametrize(
    ("transient", "state"), [(True, CredentialsState.UNREACHABLE), (False, CredentialsState.REFUSED)]
)
async def test_what_may_pass_is_told_from_what_must_be_changed(
    transient: bool, state: CredentialsState
) -> None:
    platform = Platform(PlatformError("No.", transient=transient))
    result = await service(platform, SetClock()).credentials(ANN, BOT)
    assert (result.state, result.message) == (state, "No.")


async def test_the_stored_secret_stands_for_one_that_is_left_out() -> None:
    platform = Platform()
    made = service(platform, SetClock())
    for config in ({}, {"botToken": ""}, {"botToken": "1:new"}):
        assert (await made.credentials(ANN, ConfigDraft(config=config, instance_id=5))).accepted
    assert platform.tokens == ["1:stored", "1:stored", "1:new"]
    (fault,) = await made.faults(ANN, ConfigDraft(config={"botToken": None}, instance_id=5))
    assert str(fault) == "config.botToken: is required"


async def test_a_configuration_that_cannot_be_decrypted_is_not_tried() -> None:
    lost = replace(STORED, status=UNREADABLE, config={})
    with pytest.raises(Conflict, match="cannot be decrypted"):
        await service(Platform(), SetClock(), lost).credentials(ANN, ConfigDraft(instance_id=5))


async def test_only_so_many_tries_in_so_long_a_time() -> None:
    clock = SetClock()
    made = service(Platform(), clock)
    for _ in range(TRIES):
        await made.credentials(ANN, BOT)
    with pytest.raises(TooMany) as refused:
        await made.credentials(ANN, BOT)
    assert refused.value.retry_after == TRIES_WITHIN.total_seconds()
    assert (await made.credentials(Caller("bob"), BOT)).accepted
    assert await made.faults(ANN, BOT) == ()
    clock.advance(TRIES_WITHIN.total_seconds())
    assert (await made.credentials(ANN, BOT)).accepted


async def test_only_the_owner_may_check() -> None:
    made = service(Platform(), SetClock())
    with pytest.raises(Forbidden):
        await made.faults(Caller("bob"), ConfigDraft(config={}, instance_id=5))
    with pytest.raises(NotFound):
        await made.credentials(ANN, ConfigDraft(config={}, instance_id=6))
    with pytest.raises(NotFound):
        await made.credentials(ANN, ConfigDraft("pigeon-post", {}))
