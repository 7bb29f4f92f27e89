"""An HTTP server that takes what the service sends, in the loop of the world."""

import asyncio
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.drivers.world import PATIENCE, World
from tests.support.servers import close_runner


@dataclass(frozen=True)
class Delivery:
    """One request that came in."""

    path: str
    headers: dict[str, str]
    body: bytes
    json: Any


class Receiver:
    """Answers 200, or with the statuses that were scripted, in turn."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.deliveries: list[Delivery] = []
        self.script: list[tuple[int, dict[str, str]]] = []
        self.url = world.run(self._start())

    async def _start(self) -> str:
        self._news = asyncio.Condition()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._take)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/answers"

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        content = await request.json() if body else None
        headers = {name.lower(): value for name, value in request.headers.items()}
        async with self._news:
            self.deliveries.append(Delivery(request.path, headers, body, content))
            self._news.notify_all()
        status, extra = self.script.pop(0) if self.script else (200, {})
        return web.Response(status=status, headers=extra)

    def wait_for(self, count: int) -> list[Delivery]:
        """Waits until so many requests have come."""
        self._world.run(self._wait(count))
        return self.deliveries

    async def _wait(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: len(self.deliveries) >= count)

    def close(self) -> None:
        self._world.run(close_runner(self._runner))
