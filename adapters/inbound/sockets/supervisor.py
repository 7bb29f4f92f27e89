"""Keeps one connection per instance of the connected channels, under leases."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.tasks import cancelled, end
from domain.channels.linked_device import RECONNECT_AFTER
from domain.channels.messages import Event
from domain.refusals import Unavailable
from ports.channels import Channels, Connected, SupportsPairing
from ports.linked_device import LinkRecorder
from ports.links import Links
from ports.storage import Inbox, InstanceStore

log = logging.getLogger(__name__)

LOOK_EVERY = 2.0
"""Seconds between two looks at what there is to keep; leases last longer by far."""


LET_GO_SECONDS = 0.5
"""What giving the leases back may take when the process stops."""


@dataclass(slots=True)
class _Kept:
    channel: Connected
    config: Mapping[str, Any]
    task: asyncio.Task[None]


class Supervisor:
    """Starts, restarts and ends the listening of instances."""

    def __init__(
        self,
        links: Links,
        instances: InstanceStore,
        channels: Channels,
        inbox: Inbox,
        restart_after: float = RECONNECT_AFTER,
    ) -> None:
        self._links = links
        self._instances = instances
        self._inbox = inbox
        self._restart_after = restart_after
        self._channels = {
            channel.definition.id: channel
            for channel in channels.all()
            if isinstance(channel, Connected) and channel.lacks() is None
        }
        self._paired = [each.definition.id for each in channels.all() if isinstance(each, SupportsPairing)]
        self._elsewhere: Mapping[int, int] = {}
        self._kept: dict[int, _Kept] = {}
        self._partings: set[asyncio.Task[None]] = set()
        self._swept = False
        self._stopping = False

    def elsewhere(self) -> Mapping[int, int]:
        """Instances whose replies and files only another process can handle, each with the places for it here."""
        return self._elsewhere

    async def run(self) -> None:
        """Runs until it is cancelled."""
        away = False
        while self._channels and not self._stopping:
            try:
                await self.look()
                away = False
            except Unavailable as reason:
                if not away:
                    log.warning("connections are not looked after for the moment: %s", reason)
                away = True
            except Exception:
                log.exception("connections could not be looked after; it is tried again")
            if cancelled():
                return
            await asyncio.sleep(LOOK_EVERY)
        await asyncio.Event().wait()

    async def look(self) -> None:
        """One round: takes up what is free, lets go of what is gone, restarts what was changed."""
        held = set(await self._links.hold(list(self._channels)))
        self._elsewhere = dict.fromkeys(await self._links.elsewhere(self._paired), 0)
        for instance_id in [each for each in self._kept if each not in held]:
            await self._end(instance_id)
        for instance_id in sorted(held):
            try:
                await self._keep(instance_id)
            except Unavailable:
                raise
            except Exception:  # its own fault: the others are kept all the same
                log.exception("a connection could not be begun", extra={"instance": instance_id})
        if not self._swept:
            await self._sweep()
            self._swept = True

    async def _sweep(self) -> None:
        """Parts from accounts whose instances were removed while nobody kept their connections."""
        for channel in self._channels.values():
            for instance_id in await self._links.gone(await channel.stored()):
                self._part(instance_id, channel)

    async def stop(self) -> None:
        """Ends all connections and gives their leases back."""
        self._stopping = True
        await end([*self._partings, *(kept.task for kept in self._kept.values())], "connections")
        self._kept.clear()
        try:
            async with asyncio.timeout(LET_GO_SECONDS):
                await self._links.let_go()
        except (TimeoutError, Unavailable):
            log.warning("the leases of connections are not given back; they run out by themselves")

    async def _keep(self, instance_id: int) -> None:
        instance = await self._instances.cached(instance_id)
        if instance is None:
            return
        config = {name: value for name, value in instance.config.items() if name != "waStatus"}
        kept = self._kept.get(instance_id)
        if kept is not None and kept.config == config:
            return
        if kept is not None:
            await end([kept.task], "connections")
            await self._links.desk(instance_id).up(None)
        channel = self._channels[instance.channel_id]
        task = asyncio.create_task(self._listen(instance_id, channel, config))
        self._kept[instance_id] = _Kept(channel, config, task)

    async def _end(self, instance_id: int) -> None:
        """The lease is another's by now, or the instance is gone: nothing is put on record of the connection."""
        kept = self._kept[instance_id]
        await end([kept.task], "connections")
        if await self._instances.find(instance_id) is None:
            self._part(instance_id, kept.channel)
        del self._kept[instance_id]

    def _part(self, instance_id: int, channel: Connected) -> None:
        """Unlinks beside the rounds, which must not wait for it: leases would run out meanwhile."""
        parting = asyncio.create_task(self._unlink(instance_id, channel))
        self._partings.add(parting)
        parting.add_done_callback(self._partings.discard)

    @staticmethod
    async def _unlink(instance_id: int, channel: Connected) -> None:
        try:
            await channel.unlink(instance_id)
        except Exception:
            log.exception("an account was not unlinked", extra={"instance": instance_id})

    async def _listen(self, instance_id: int, channel: Connected, config: Mapping[str, Any]) -> None:
        """Until it is cancelled. Whoever cancels puts on record that the connection is down: `stop` does so for all
        in one statement, as the database may not answer then."""

        desk = self._links.desk(instance_id)

        async def emit(event: Event) -> None:
            try:
                await self._inbox.add(instance_id, [event])
            except Unavailable:
                raise
            except (
                Exception
            ) as error:  # raised, it would end the connection, and come again with the next one
                log.exception("a message could not be stored", extra={"instance": instance_id})
                await desk.trouble(f"a message could not be stored: {type(error).__name__}")

        while True:
            failure = ""
            try:
                await channel.listen(instance_id, config, emit, desk)
            except Unavailable as reason:  # of this service, not of the platform
                log.warning("a connection is begun anew: %s", reason, extra={"instance": instance_id})
            except Exception as error:
                log.exception("a connection failed", extra={"instance": instance_id})
                failure = f"the connection failed: {type(error).__name__}"
            if cancelled():
                return
            await self._ended(instance_id, desk, failure)
            await asyncio.sleep(self._restart_after)

    @staticmethod
    async def _ended(instance_id: int, desk: LinkRecorder, failure: str) -> None:
        """Puts the end of a connection on record."""
        try:
            if failure:
                await desk.trouble(failure)
            await desk.up(None)
        except Unavailable:
            log.debug("a connection's end is not on record; it ends with the lease")
        except Exception:
            log.exception("a connection's end is not on record", extra={"instance": instance_id})
