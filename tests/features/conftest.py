"""The service for scenarios, through each of its ways in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.inbound.grpc import server as health
from adapters.inbound.rest import ops
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from apps import readiness
from domain.routing import indicators as typing
from domain.routing import prompts
from tests.drivers.platform import PlatformDriver
from tests.drivers.receiver import Receiver
from tests.drivers.ways import WAYS, Rest, Way
from tests.drivers.world import PATIENCE, World
from tests.support.postgres import fresh_database

SHORT = ((ops, "CHECK"), (readiness, "LOOK"), (health, "LOOK"), (prompts, "CALL"), (typing, "CALL"))
"""What the service gives up after a few seconds, for which a busy machine may stand still."""


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """More time for these, and for statements of the database."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in SHORT:
            patch.setattr(module, f"{name}_SECONDS", PATIENCE)
        connection = Database.connection
        patch.setattr(
            Database, "connection", lambda self, within=None: connection(self, within and BULK_SECONDS)
        )
        yield


@pytest.fixture
def make_world(database_url: str, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Starts a service with settings of the scenario's own."""
    worlds: list[World] = []

    def make(*, worker: bool = True, **settings: str) -> World:
        world = World(database_url, tmp_path, **settings)
        world.start(worker=worker)
        worlds.append(world)
        return world

    yield make
    for world in worlds:
        world.stop()


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver | None]:
    """The HTTP edge of the platform that a module names by `EDGE`, the setting of its address; else none."""
    if not hasattr(request.module, "EDGE"):
        yield None
        return
    driver = PlatformDriver()
    request.module.SETTINGS = {**getattr(request.module, "SETTINGS", {}), request.module.EDGE: driver.url}
    yield driver
    driver.close()


@pytest.fixture(scope="module")
def module_world(
    request: pytest.FixtureRequest,
    postgres_dsn: str,
    tmp_path_factory: pytest.TempPathFactory,
    platform_driver: PlatformDriver | None,
) -> Iterator[World]:
    """One service for the scenarios of a module; without its worker where the module says `WORKER = False`."""
    with fresh_database(postgres_dsn) as dsn:
        world = World(dsn, tmp_path_factory.mktemp("data"), **getattr(request.module, "SETTINGS", {}))
        world.start(worker=getattr(request.module, "WORKER", True))
        yield world
        world.stop()


@pytest.fixture
def world(module_world: World) -> World:
    """The service, with nothing in it."""
    module_world.empty()
    return module_world


THROUGH = {"way": list(WAYS), "rest": ["REST", "REST over gRPC"]}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs the scenarios of a module that says `THROUGH = "way"` (or "rest") through each of those.

    Scenarios do not name their fixtures, so parametrised ones must be added to them here.
    """
    name = getattr(metafunc.module, "THROUGH", None)
    if name is not None:
        metafunc.fixturenames.append(name)
        metafunc.parametrize(name, THROUGH[name], indirect=True)


@pytest.fixture
def way(request: pytest.FixtureRequest, world: World) -> Iterator[Way]:
    """The service, reached in each way in turn."""
    made = WAYS[request.param](world)
    yield made
    made.close()


@pytest.fixture
def rest(request: pytest.FixtureRequest, world: World) -> Iterator[Rest]:
    """The gateway, over its own use cases and over a remote core."""
    made = WAYS[request.param](world)
    assert isinstance(made, Rest)
    yield made
    made.close()


@pytest.fixture
def receiver(world: World) -> Iterator[Receiver]:
    """A server at the user's response address."""
    made = Receiver(world)
    yield made
    made.close()
