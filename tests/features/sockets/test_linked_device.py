"""The steps of linked_device.feature: supervisor, pairing and storage with a scripted account."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.linked_device_messaging.device import Dropped, Linked, LoggedOut, Unlinked
from adapters.outbound.storage.pool import Database
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.instances.model import Instance, Pairing
from domain.instances.pairing import PairingService
from tests.support.socket_world import SocketWorld

scenarios("linked_device.feature")


@dataclass
class Scene:
    runner: asyncio.Runner
    database: Database
    world: SocketWorld | None = None
    instance: Instance | None = None
    pairing: Pairing | None = None

    def begin(self, lack: str | None = None) -> None:
        self.world = SocketWorld(self.database, ConfigCipher(new_key()), 1, lack)
        self.instance = self.runner.run(self.world.create())
        self.runner.run(self.world.supervisor.check())
        self.world.device.happen(Unlinked())

    def until(self, holds: Callable[[], object]) -> None:
        assert self.world is not None
        self.runner.run(self.world.until(holds))

    def status_becomes(self, status: str) -> None:
        world, instance = self.world, self.instance
        assert world is not None
        assert instance is not None

        async def reached() -> bool:
            return await world.wa_status(instance) == status

        self.until(reached)

    def health_code(self) -> str | None:
        assert self.world is not None
        assert self.instance is not None
        return self.runner.run(self.world.health.find(self.instance.id)).pairing_code


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    with asyncio.Runner() as runner:
        database = Database(database_url)
        runner.run(database.open())
        made = Scene(runner, database)
        yield made
        if made.world is not None:
            runner.run(made.world.stop())
        runner.run(database.close())


@given("Ann's linked device")
def device(scene: Scene) -> None:
    scene.begin()


@given("Ann's connected linked device")
def connected_device(scene: Scene) -> None:
    scene.begin()
    assert scene.world is not None
    told = scene.world.told
    scene.until(lambda: told.codes)
    told.codes.clear()
    scene.world.device.codes[:] = ["AAAA-1111"]
    scene.world.device.happen(Linked())
    scene.status_becomes("connected")


@given("a server without the extra, and Ann's linked device")
def without_extra(scene: Scene) -> None:
    scene.begin(lack="this server lacks the extra 'linked-device'")


@given("the account gives no more codes")
def no_more_codes(scene: Scene) -> None:
    assert scene.world is not None
    scene.world.device.hangs = True


@when("the code is entered in the app")
def code_entered(scene: Scene) -> None:
    assert scene.world is not None
    scene.world.device.happen(Linked())


@when("the connection drops and comes back")
def drops(scene: Scene) -> None:
    assert scene.world is not None
    scene.world.device.happen(Dropped("timeout"), Linked())


@when("the account logs it out")
@given("the account logged it out")
def logs_out(scene: Scene) -> None:
    assert scene.world is not None
    scene.world.device.happen(LoggedOut("by the user"))
    scene.status_becomes("logged_out")


@when("Ann asks for a pairing code")
def asks(scene: Scene) -> None:
    world, instance = scene.world, scene.instance
    assert world is not None
    assert instance is not None
    service = PairingService(world.connections, world.channels, wait=1.5 if world.device.hangs else 60)
    scene.pairing = scene.runner.run(service.request(instance))


@then(parsers.parse("its waStatus is {status}"))
def wa_status(scene: Scene, status: str) -> None:
    scene.status_becomes(status)


@then(parsers.parse("the owner is told the code {code}"))
@given(parsers.parse("the owner was told the code {code}"))
def told(scene: Scene, code: str) -> None:
    world = scene.world
    assert world is not None
    scene.until(lambda: [each for _, each in world.told.codes] == [code])


@then(parsers.parse("its health shows the code {code}"))
def shows(scene: Scene, code: str) -> None:
    assert scene.health_code() == code


@then("its health shows no code")
def shows_none(scene: Scene) -> None:
    world = scene.world
    assert world is not None
    instance_id = world.only

    async def gone() -> bool:
        return (await world.health.find(instance_id)).pairing_code is None

    scene.until(gone)


@then("it is among Ann's live connections")
def is_live(scene: Scene) -> None:
    assert scene.world is not None
    scene.runner.run(scene.world.supervisor.check())  # a lease ends after a while
    (socket,) = scene.runner.run(scene.world.connections.live("ann"))
    assert socket.instance_id == scene.world.only


@then(parsers.parse("it was connected {times:d} times"))
def times_connected(scene: Scene, times: int) -> None:
    world = scene.world
    assert world is not None
    scene.until(lambda: world.device.did.count("connect") == times)


@then("its stored state was cleared")
def cleared(scene: Scene) -> None:
    world = scene.world
    assert world is not None
    scene.until(lambda: "logout" in world.device.did)


@then(parsers.parse("she gets the code {code}"))
def gets(scene: Scene, code: str) -> None:
    assert scene.pairing is not None
    assert (scene.pairing.success, scene.pairing.code) == (True, code)


@then("she gets no code")
def gets_none(scene: Scene) -> None:
    assert scene.pairing is not None
    assert (scene.pairing.success, scene.pairing.code) == (False, None)
    assert scene.pairing.message
