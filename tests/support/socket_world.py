"""One process that keeps linked devices, on a real database, with a scripted account."""

import asyncio
import inspect
from collections.abc import Callable

from adapters.inbound.sockets.storing import Storing
from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.channels.linked_device_messaging.channel import build
from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.storage.connections import PostgresConnections
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.unanswered import PostgresUnanswered
from adapters.outbound.system.encryption import ConfigCipher
from adapters.outbound.system.metrics import PrometheusMeter
from domain.callbacks import SessionRenames
from domain.instances.model import Instance, NewInstance
from domain.instances.pairing import PairingService
from ports.http import Http
from tests.support.linked_device import ScriptedDevice, ScriptedDevices

CHANNEL = "linked-device-messaging"
NO_HTTP: Http = object()  # type: ignore[assignment]


class Told:
    """A notifier that remembers."""

    def __init__(self) -> None:
        self.codes: list[tuple[int, str]] = []

    async def pairing_code(self, instance_id: int, code: str) -> None:
        self.codes.append((instance_id, code))


class SocketWorld:
    """One process: its links, its supervisor, its device."""

    def __init__(self, database: Database, cipher: ConfigCipher, owner: int, lack: str | None = None) -> None:
        self.database = database
        self.created: Instance | None = None
        self.device = ScriptedDevice()
        self.devices = ScriptedDevices(self.device, lack)
        self.told = Told()
        self.instances = PostgresInstances(database, cipher, lambda _: None)
        self.health = PostgresHealth(database)
        self.connections = PostgresConnections(
            database, owner, self.instances, self.health, self.told, lambda: None
        )
        channels = Registry((build(dependencies(NO_HTTP), self.devices),))
        self.channels = channels
        inbox = PostgresInbox(database, lambda: None)
        self.inbox = inbox
        self.unanswered = PostgresUnanswered(database, lambda: None)
        self.renames = SessionRenames(PostgresSessions(database), self.instances)
        meter = PrometheusMeter()
        self.supervisor = Supervisor(
            self.connections,
            self.instances,
            channels,
            inbox,
            self.unanswered,
            meter,
            self.renames,
            restart_after=0,
        )
        self.pairing = PairingService(self.connections, channels, wait=60)

    async def create(self, user: str = "ann") -> Instance:
        new = NewInstance(CHANNEL, "wa", {"phoneNumber": "4915112345678"}, "agent::echo")
        instance = await self.instances.add(user, new, connects=True)
        await self.pairing.saved(instance)
        self.created = instance
        return instance

    def storing(self, instance_id: int) -> Storing:
        recorder = self.connections.recorder(instance_id, "")
        meter = PrometheusMeter()
        return Storing(
            instance_id, CHANNEL, self.inbox, self.unanswered, self.connections, recorder, meter, self.renames
        )

    async def wa_status(self, instance: Instance) -> object:
        found = await self.instances.find(instance.id)
        assert found is not None
        return found.config.get("waStatus")

    @property
    def only(self) -> int:
        """The instance that was created."""
        assert self.created is not None
        return self.created.id

    @staticmethod
    async def until(holds: Callable[[], object]) -> None:
        """Waits for something to come about; `holds` may give a coroutine."""
        async with asyncio.timeout(60):
            while True:
                found = holds()
                if await found if inspect.iscoroutine(found) else found:
                    return
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        await self.supervisor.stop()
        await self.inbox.close()
