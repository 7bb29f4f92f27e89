"""A connection of a channel in tests: what it gave, and what was put on record of it."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.tests.calls import ChannelCalls
from domain.channels.messages import Event, SessionAlias, SessionRename


class Recorder:
    """What is put on record of a connection."""

    def __init__(self) -> None:
        self.ups: list[bool] = []
        self.troubles: asyncio.Queue[str] = asyncio.Queue()

    async def set_connected_since(self, since: datetime | None) -> None:
        self.ups.append(since is not None)

    async def record_failure(self, reason: str) -> None:
        self.troubles.put_nowait(reason)


class Listener:
    """A running connection, the events that it gave, the cursors that came with them, and its recorder.

    `broken` holds errors that storing raises, one for each try.
    """

    def __init__(self, channel: ChannelCalls, config: Mapping[str, Any]) -> None:
        self.channel = channel
        self.config = config
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.cursors: asyncio.Queue[Mapping[str, object]] = asyncio.Queue()
        self.aliases: list[SessionAlias] = []
        self.renames: list[SessionRename] = []
        self.stored: Mapping[str, object] | None = None
        self.recorder = Recorder()
        self.broken: list[Exception] = []
        self.running: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.running = asyncio.create_task(self.channel.listen(7, self.config, self, self.recorder))

    async def __call__(self, event: Event) -> None:
        if self.broken:
            raise self.broken.pop()
        self.events.put_nowait(event)

    async def join(self, alias: SessionAlias) -> None:
        self.aliases.append(alias)

    async def batch(
        self,
        events: Sequence[Event],
        cursor: Mapping[str, object],
        renames: Sequence[SessionRename] = (),
    ) -> None:
        self.renames += renames
        for event in events:
            await self(event)
        self.stored = cursor
        self.cursors.put_nowait(cursor)

    async def cursor(self) -> Mapping[str, object] | None:
        return self.stored

    async def stop(self) -> None:
        if self.running:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)
