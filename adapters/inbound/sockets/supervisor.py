"""Keeps one connection per instance of the connected channels, under leases."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from adapters.inbound.sockets.storing import Storing
from adapters.tasks import cancelled, end
from domain.callbacks import SessionRenames
from domain.channels.model import Proof
from domain.channels.typed import ChannelConfig, JsonModel
from domain.refusals import INTERNAL, Unavailable
from ports.channels import Channels
from ports.connections import ConnectionStore, Connector
from ports.instances import InstanceStore, UnansweredStore
from ports.queue import Inbox
from ports.system import Meter

log = logging.getLogger(__name__)

CHECK_EVERY = 2.0
"""Seconds between two rounds; leases last longer by far."""
GATHERING = 0.1
"""Seconds within which several changes of instances count as one."""
RESTART_AFTER = 3.0
RELEASE_SECONDS = 0.5
"""Time limit for releasing the leases when the process stops."""


@dataclass(frozen=True, slots=True)
class _Connected:
    model: JsonModel[ChannelConfig]
    connector: Connector[ChannelConfig]
    status_field: str
    proof: Proof


@dataclass(slots=True)
class _Connection:
    channel: _Connected
    config: ChannelConfig
    task: asyncio.Task[None]


class Supervisor:
    """Starts, restarts and ends the connections of instances."""

    def __init__(
        self,
        store: ConnectionStore,
        instances: InstanceStore,
        channels: Channels,
        inbox: Inbox,
        unanswered: UnansweredStore,
        meter: Meter,
        renames: SessionRenames,
        restart_after: float = RESTART_AFTER,
    ) -> None:
        self._store = store
        self._instances = instances
        self._inbox = inbox
        self._unanswered = unanswered
        self._meter = meter
        self._renames = renames
        self._restart_after = restart_after
        self._channels = {
            channel.definition.id: _Connected(
                channel.config,
                channel.connector,
                channel.pairing.status_field if channel.pairing else "",
                channel.connection_proof,
            )
            for channel in channels.all()
            if channel.connector and channel.connector.lacks() is None
        }
        self._pairing = [channel.definition.id for channel in channels.all() if channel.pairing]
        self._held_by_other_process: Mapping[int, int] = {}
        self._connections: dict[int, _Connection] = {}
        self._unlinking: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._swept = False
        self._stopping = False

    def held_by_other_process(self) -> Mapping[int, int]:
        """Instances whose replies and files only another process can handle, each with a capacity of 0 here."""
        return self._held_by_other_process

    async def run(self) -> None:
        """Runs until it is cancelled."""
        unavailable = False
        while self._channels and not self._stopping:
            try:
                await self.check()
                unavailable = False
            except Unavailable as reason:
                if not unavailable:
                    log.warning("connections are not supervised for the moment: %s", reason)
                unavailable = True
            except Exception:
                log.exception("connections could not be supervised; it is tried again")
            if cancelled():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_EVERY):
                    await self._news.wait()
                    await asyncio.sleep(GATHERING)
            self._news.clear()
        await asyncio.Event().wait()

    def changed(self, _: int | None) -> None:
        """An instance was changed, perhaps: the next round is soon."""
        self._news.set()

    async def check(self) -> None:
        """One round: renews leases, starts, restarts and ends connections."""
        leased = set(await self._store.acquire(list(self._channels)))
        other = await self._store.held_by_other_process(self._pairing)
        self._held_by_other_process = dict.fromkeys(other, 0)
        for instance_id in (
            self._connections.keys() - leased
        ):  # removed, switched off, or leased by another process
            connection = self._connections[instance_id]
            await end([connection.task], "connections")
            await self._store.release(instance_id)
            if await self._instances.find(instance_id) is None:
                self._start_unlinking(instance_id, connection.channel)
            del self._connections[instance_id]
        away: Unavailable | None = None
        for instance_id in sorted(leased):
            try:
                await self._ensure(instance_id)
            except Unavailable as reason:  # perhaps of this instance alone: it cannot be decrypted
                away = reason
            except Exception:  # of this instance alone: the others go on
                log.exception("a connection could not be started", extra={"instance": instance_id})
        if away is not None:
            raise away
        if not self._swept:  # accounts whose instances were removed while nobody kept their connections
            for channel in self._channels.values():
                for instance_id in await self._store.removed(await channel.connector.stored()):
                    self._start_unlinking(instance_id, channel)
            self._swept = True

    async def stop(self) -> None:
        """Ends all connections and releases their leases."""
        self._stopping = True
        tasks = [connection.task for connection in self._connections.values()]
        await end([*self._unlinking, *tasks], "connections")
        self._connections.clear()
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._store.release_all()
        except (TimeoutError, Unavailable):
            log.warning("the leases of connections are not released; they expire by themselves")

    async def _ensure(self, instance_id: int) -> None:
        """Starts the instance's connection, or restarts it if the configuration changed."""
        instance = await self._instances.cached(instance_id)
        if instance is None:
            return
        channel = self._channels[instance.channel_id]
        config = channel.model.load(instance.receiving_config or instance.config)
        recorder = self._store.recorder(instance_id, channel.status_field)
        connection = self._connections.get(instance_id)
        if connection is not None:
            if connection.config == config:
                return
            await end([connection.task], "connections")
            await recorder.set_connected_since(None)
        emit = Storing(
            instance_id,
            instance.channel_id,
            self._inbox,
            self._unanswered,
            self._store,
            recorder,
            self._meter,
            self._renames,
            channel.proof,
        )
        task = asyncio.create_task(self._listen(instance_id, channel, config, emit))
        self._connections[instance_id] = _Connection(channel, config, task)

    def _start_unlinking(self, instance_id: int, channel: _Connected) -> None:
        """Unlinks in a task of its own: leases would expire if a round waited for it."""

        async def unlink() -> None:
            try:
                await channel.connector.unlink(instance_id)
            except Exception:
                log.exception("an account was not unlinked", extra={"instance": instance_id})

        task = asyncio.create_task(unlink())
        self._unlinking.add(task)
        task.add_done_callback(self._unlinking.discard)

    async def _listen(
        self, instance_id: int, channel: _Connected, config: ChannelConfig, emit: Storing
    ) -> None:
        """Runs until it is cancelled. Who cancels records that the connection is down: `stop` does so for all in
        one statement, as the database may not answer then."""
        while True:
            failure = ""
            try:
                await channel.connector.listen(instance_id, config, emit, emit.recorder)
            except Unavailable as reason:  # of this service, not of the platform
                log.warning("a connection is started again: %s", reason, extra={"instance": instance_id})
            except Exception:
                log.exception("a connection failed", extra={"instance": instance_id})
                failure = f"the connection failed: {INTERNAL}"
            if cancelled():
                return
            try:
                if failure:
                    await emit.recorder.record_failure(failure)
                await emit.recorder.set_connected_since(None)
            except Unavailable:
                log.debug("a connection's end is not recorded; it ends with the lease")
            except Exception:
                log.exception("a connection's end is not recorded", extra={"instance": instance_id})
            await asyncio.sleep(self._restart_after)
