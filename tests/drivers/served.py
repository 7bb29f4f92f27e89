"""The service of scenarios behind a real port, for browsers and other clients of HTTP."""

import asyncio
from pathlib import Path

from apps.http_gateway.server import HttpComponent
from apps.processes.components import EventsComponent
from apps.processes.standalone import build_gateway
from apps.processes.starting import listen
from tests.drivers.world import World
from tests.support.ports import free_port


class ServedWorld(World):
    """A `World` whose gateway listens at `url`. Who reads events stays on record: browsers go on reading."""

    kept = (*World.kept, "event_listener")

    def __init__(self, dsn: str, data_dir: Path, host: str = "127.0.0.1", **settings: str) -> None:
        port = free_port()
        self.url = f"http://{host}:{port}"
        super().__init__(dsn, data_dir, AGENT_URL=self.url, PLATFORM_URL=self.url, **settings)
        self._listener = listen("127.0.0.1", port, "HTTP_PORT")

    async def _empty(self) -> None:
        """Events are recorded on: who reads them says only every minute that somebody does."""
        await super()._empty()
        await self.container.storage().event_log.listen("watchers")

    async def _start(self, worker: bool) -> None:
        await super()._start(worker)
        gateway = build_gateway(self.container)
        for part in (
            EventsComponent(self.container),
            HttpComponent(gateway, self._listener, self.settings),
        ):
            await part.start()
            self.parts.append(part)
            self._tasks.append(asyncio.create_task(part.run()))
