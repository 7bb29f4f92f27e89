"""Connections under leases on a real database, with a scripted device."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.channels.linked_device_messaging.channel import LinkedDeviceMessaging
from adapters.outbound.channels.registry import Registry
from adapters.outbound.security.box import Seal, new_key
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.inbox import PostgresInbox
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.links import PostgresLinks
from adapters.outbound.storage.pool import Database
from domain.instances.model import Instance, NewInstance
from domain.pairing.service import PairingService
from domain.refusals import TooMany
from ports.http import Http
from ports.linked_device import Incoming, Linked, Unlinked
from tests.support.channels import NOW, kit
from tests.support.linked_device import ScriptedDevice, ScriptedDevices

CHANNEL = "linked-device-messaging"
NO_HTTP: Http = object()  # type: ignore[assignment]


class Told:
    """A notifier that remembers."""

    def __init__(self) -> None:
        self.codes: list[tuple[int, str]] = []

    async def pairing_code(self, instance_id: int, code: str) -> None:
        self.codes.append((instance_id, code))


class World:
    """One process: its links, its supervisor, its device."""

    def __init__(self, database: Database, seal: Seal, owner: int, lack: str | None = None) -> None:
        self.database = database
        self.device = ScriptedDevice()
        self.devices = ScriptedDevices(self.device, lack)
        self.told = Told()
        self.instances = PostgresInstances(database, seal, lambda _: None)
        self.health = PostgresHealth(database)
        self.links = PostgresLinks(database, owner, self.instances, self.health, self.told)
        channels = Registry((LinkedDeviceMessaging(kit(NO_HTTP, devices=self.devices)),))
        self.channels = channels
        inbox = PostgresInbox(database, lambda: None)
        self.inbox = inbox
        self.supervisor = Supervisor(self.links, self.instances, channels, inbox, restart_after=0)
        self.pairing = PairingService(self.links, channels, wait=5)

    async def create(self, user: str = "ann") -> Instance:
        new = NewInstance(CHANNEL, "wa", {"phoneNumber": "4915112345678"}, "agent::echo")
        instance = await self.instances.add(user, new)
        await self.pairing.saved(instance)
        return instance

    async def wa_status(self, instance: Instance) -> object:
        found = await self.instances.find(instance.id)
        assert found is not None
        return found.config.get("waStatus")


@pytest.fixture
async def worlds(database_url: str) -> AsyncIterator[Callable[..., World]]:
    database, seal = Database(database_url), Seal(new_key())
    await database.open()
    made: list[World] = []

    def make(owner: int = 1, lack: str | None = None) -> World:
        made.append(World(database, seal, owner, lack))
        return made[-1]

    yield make
    for world in made:
        await world.supervisor.stop()
        await world.inbox.close()
    await database.close()


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not (found := holds()) or (asyncio.iscoroutine(found) and not await found):
            await asyncio.sleep(0.02)


async def test_from_creation_to_a_message(worlds: Callable[..., World]) -> None:
    world = worlds()
    instance = await world.create()
    assert await world.wa_status(instance) == "pairing"
    await world.supervisor.look()
    world.device.happen(Unlinked())
    await until(lambda: world.told.codes == [(instance.id, "AAAA-1111")])
    assert (await world.health.find(instance.id)).pairing_code == "AAAA-1111"
    assert await world.links.live(None) == []
    world.device.happen(Linked())
    await until(lambda: _is(world, instance, "connected"))
    assert (await world.health.find(instance.id)).pairing_code is None
    (socket,) = await world.links.live("ann")
    assert (socket.instance_id, socket.channel_id, socket.status) == (instance.id, CHANNEL, "connected")
    assert await world.links.live("bob") == []
    chat = "4917@s.whatsapp.net"
    message = Incoming("ID1", chat, ("4917",), "Bob", "Hello", NOW.timestamp())
    world.device.happen(message, message)
    await until(lambda: _rows(world, 1))


async def _is(world: World, instance: Instance, status: str) -> bool:
    return await world.wa_status(instance) == status


async def _rows(world: World, count: int) -> bool:
    row = await world.database.fetch_one("SELECT count(*) FROM inbox")
    assert row is not None
    return bool(row[0] == count)


async def test_a_code_can_be_asked_for_from_any_process(worlds: Callable[..., World]) -> None:
    keeper, other = worlds(1), worlds(2)
    instance = await keeper.create()
    await keeper.supervisor.look()
    await other.supervisor.look()
    assert other.devices.opened == []
    keeper.device.happen(Unlinked())
    await until(lambda: keeper.told.codes)
    pairing = await other.pairing.request(instance)
    assert (pairing.success, pairing.code) == (True, "BBBB-2222")


async def test_without_a_keeper_there_is_no_code(worlds: Callable[..., World]) -> None:
    world = worlds()
    instance = await world.create()
    pairing = await PairingService(world.links, world.channels, 0.3).request(instance)
    assert (pairing.success, pairing.code) == (False, None)
    assert "within 0.3 seconds" in pairing.message


async def test_without_the_extra_there_is_no_code_and_no_connection(worlds: Callable[..., World]) -> None:
    world = worlds(lack="this server lacks the extra 'linked-device'")
    instance = await world.create()
    pairing = await world.pairing.request(instance)
    assert (pairing.success, pairing.code) == (False, None)
    assert "lacks the extra" in pairing.message
    assert await world.wa_status(instance) == "pairing"


async def test_asking_too_often_is_refused(worlds: Callable[..., World]) -> None:
    world = worlds()
    instance = await world.create()
    for _ in range(20):
        assert await world.links.ask(instance.id) is not None
    with pytest.raises(TooMany):
        await world.pairing.request(instance)


async def test_a_dead_keepers_connections_are_taken_over(worlds: Callable[..., World]) -> None:
    keeper, heir = worlds(1), worlds(2)
    await keeper.create()
    await keeper.supervisor.look()
    await until(lambda: keeper.devices.opened)
    await heir.supervisor.look()
    assert heir.devices.opened == []
    await heir.links.free([1])
    await heir.supervisor.look()
    await until(lambda: heir.devices.opened)
    await keeper.supervisor.look()
    await until(lambda: "close" in keeper.device.did)


async def test_a_removed_instance_is_unlinked(worlds: Callable[..., World]) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.look()
    await until(lambda: "connect" in world.device.did)
    await world.instances.remove(instance.id)
    await world.supervisor.look()
    assert world.devices.forgotten == [instance.id]
    assert "logout" in world.device.did


async def test_a_changed_configuration_starts_the_connection_anew(worlds: Callable[..., World]) -> None:
    world = worlds()
    instance = await world.create()
    await world.supervisor.look()
    await until(lambda: "connect" in world.device.did)
    await world.instances.annotate(instance.id, "waStatus", "connected")
    await world.supervisor.look()
    assert len(world.devices.opened) == 1
    await world.instances.annotate(instance.id, "allowedNumbers", "4917")
    await world.supervisor.look()
    await until(lambda: len(world.devices.opened) == 2)


async def test_a_device_that_ends_is_started_again(worlds: Callable[..., World]) -> None:
    world = worlds()
    await world.create()
    await world.supervisor.look()
    world.device.happen(None)
    await until(lambda: len(world.devices.opened) >= 2)
