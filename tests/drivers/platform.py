"""A stand-in of a platform that answers in a loop of its own, beside the world's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.drivers.loops import end_loop
from tests.drivers.world import PATIENCE
from tests.support.platforms.standin import StandIn
from tests.support.servers import close_runner


class PlatformDriver:
    """Serves one stand-in after the other at the same address; steps wait for what reached it."""

    def __init__(self) -> None:
        self.platform = StandIn()
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE)

    async def _start(self) -> str:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._take)
        self._server = TestServer(app, host="127.0.0.1")
        await self._server.start_server(shutdown_timeout=0.1)
        return f"http://127.0.0.1:{self._server.port}"

    def show(self, platform: StandIn) -> None:
        """Serves this stand-in from now on."""
        platform.url = self.url
        self.platform = platform

    async def _take(self, request: web.Request) -> web.StreamResponse:
        platform = self.platform
        answer = await platform._handle(request)
        with self._news:
            self._news.notify_all()
        return answer

    def wait_until(self, ready: Callable[[], bool]) -> bool:
        """Whether something came about within the world's patience."""
        with self._news:
            return self._news.wait_for(ready, PATIENCE)

    def close(self) -> None:
        runner = self._server.runner
        assert runner is not None
        asyncio.run_coroutine_threadsafe(close_runner(runner), self._loop).result(PATIENCE)
        end_loop(self._loop, self._thread)
