"""Services without a public address: platforms that are asked, or connected to, by a supervisor that runs."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapters.inbound.sockets import supervisor
from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.storage.connections import PostgresConnections
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.standin import StandIn
from tests.support.waiting import until


@dataclass
class Keeper:
    """What keeps connections in one process."""

    owner: int
    supervisor: Supervisor
    running: Future[None]


@dataclass
class Behind:
    """A service whose supervisor runs, and the platform of its instance."""

    driver: PlatformDriver
    make_world: Callable[..., World]
    keepers: list[Keeper] = field(default_factory=list)
    id: int = 0
    created: Any = None

    def begin(self, platform: StandIn, setting: str, api: str = "", **settings: str) -> None:
        self.driver.show(platform)
        address = {setting: self.driver.url + api} if setting else {}
        self.world = self.make_world(**address, **settings)
        self.rest = Rest(self.world)
        self._keep(self.world.container.channels().supervisor, self.world.container.foundation().worker_id)

    def _keep(self, kept: Supervisor, owner: int) -> None:
        self.keepers.append(Keeper(owner, kept, self.world.begin(kept.run())))

    def second_process(self) -> None:
        storage, channels = self.world.container.storage(), self.world.container.channels()
        instances, health, owner = storage.instances, storage.health, self.keepers[0].owner + 1
        connections = PostgresConnections(
            storage.database, owner, instances, health, None, storage.event_bus.inbound_enqueued
        )
        meter = self.world.container.foundation().meter
        self._keep(
            Supervisor(
                connections,
                instances,
                channels.registry,
                storage.inbox,
                storage.unanswered,
                meter,
                channels.renames,
            ),
            owner,
        )

    def kill_the_first(self) -> None:
        """Ends its tasks without a word to the database, which notices and frees its leases."""
        dead = self.keepers.pop(0)
        dead.running.cancel()
        connections = [task for task in self.world.run(_all_tasks()) if "_listen" in repr(task)]
        for task in connections:
            self.world.run(_cancelled(task))
        self.world.run(self.world.container.channels().connections.release_of([dead.owner]))

    def create(self, channel_id: str, config: Mapping[str, Any], resource: str = "agent::echo") -> None:
        body = {
            "channelId": channel_id,
            "channelName": "Bot",
            "config": config,
            "downStreamResourceId": resource,
        }
        self.created = self.rest.create("ann", body).body
        self.id = self.created["instanceId"]

    def is_live(self) -> bool:
        live = self.world.run(self.world.container.channels().connections.live("ann"))
        return self.id in [socket.instance_id for socket in live]

    def wait_live(self) -> None:
        until(self.is_live, "the connection is up")


async def _all_tasks() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks()


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@contextmanager
def driven() -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    yield driver
    driver.close()


@pytest.fixture
def behind(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> Iterator[Behind]:
    monkeypatch.setattr(supervisor, "CHECK_EVERY", 0.05)
    with driven() as driver:
        made = Behind(driver, make_world)
        yield made
        for keeper in made.keepers:
            made.world.run(keeper.supervisor.stop())
            keeper.running.cancel()
        made.rest.close()
        assert driver.platform.faults == []
