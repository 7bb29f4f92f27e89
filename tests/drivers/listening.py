"""A gateway of a scenario behind a real port, for clients of other makers, which stream."""

from __future__ import annotations

import asyncio
from types import TracebackType

from apps.http_gateway.server import HttpComponent
from apps.processes.starting import listen
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.ports import free_port


class Listening:
    """Serves the gateway of a `Rest`, straight or over a core, as long as it is entered."""

    def __init__(self, world: World, rest: Rest) -> None:
        self._world = world
        self._app = rest.app
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._listener = listen("127.0.0.1", port, "HTTP_PORT")

    def __enter__(self) -> Listening:
        self._world.run(self._start())
        return self

    async def _start(self) -> None:
        self._http = HttpComponent(self._app, self._listener, self._world.settings)
        await self._http.start()
        self._running = asyncio.create_task(self._http.run())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.run(self._stop())

    async def _stop(self) -> None:
        await self._http.stop()
        await self._running
