"""The service for scenarios, through each of its ways in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.inbound.grpc import server as health
from adapters.inbound.rest import ops
from adapters.outbound.channels.email import channel as mail_channel
from adapters.outbound.knowledge.parsing import parser
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from apps.processes import readiness
from domain.routing import indicators as typing
from domain.routing import prompts
from tests.drivers.platform import PlatformDriver
from tests.drivers.receiver import Receiver
from tests.drivers.ways import Rest, RestOverGrpc
from tests.drivers.world import PATIENCE, World
from tests.support.postgres import fresh_database
from tests.support.sources import KeptForkServer

SHORT = (
    (ops, "CHECK_SECONDS"),
    (readiness, "LOOK_SECONDS"),
    (health, "LOOK_SECONDS"),
    (prompts, "CALL_SECONDS"),
    (typing, "CALL_SECONDS"),
    (mail_channel, "PROBE_TIMEOUT"),
)
"""What the service gives up after a few seconds, for which a busy machine may stand still."""


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """More time for these, and for statements of the database."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in SHORT:
            patch.setattr(module, name, PATIENCE)
        connection = Database.connection
        patch.setattr(
            Database, "connection", lambda self, within=None: connection(self, within and BULK_SECONDS)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> Iterator[None]:
    """Files are read in children of one process, however many services are started: its imports take seconds."""
    server = KeptForkServer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "ForkServer", lambda: server)
        yield
    server.end()


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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs what has the mark `grpc`, which scenarios get by a tag, over a remote core as well.

    Scenarios do not name their fixtures, so parametrised ones must be added to them here.
    """
    if metafunc.definition.get_closest_marker("grpc"):
        metafunc.fixturenames.append("rest")
        metafunc.parametrize("rest", [Rest, RestOverGrpc], indirect=True, ids=["REST", "REST over gRPC"])


@pytest.fixture
def rest(request: pytest.FixtureRequest, world: World) -> Iterator[Rest]:
    """The gateway, over its own use cases unless the test is told otherwise."""
    made = getattr(request, "param", Rest)(world)
    yield made
    made.close()


@pytest.fixture
def receiver(world: World) -> Iterator[Receiver]:
    """A server at the user's response address."""
    made = Receiver(world)
    yield made
    made.close()
