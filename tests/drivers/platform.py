"""A stand-in of a platform that answers in a loop of its own, beside the world's."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.drivers.loops import end_loop
from tests.drivers.world import PATIENCE
from tests.support.platforms.standin import StandIn
from tests.support.servers import close_runner

TURNS = 20
"""Turns of an event loop, more than it needs from a connection in its backlog to the handler of the request."""


async def take_turns() -> None:
    """Lets a loop handle all that has reached its sockets."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


class PlatformDriver:
    """Serves one stand-in after the other at the same address; steps wait for what reached it."""

    def __init__(self) -> None:
        self.platform = StandIn()
        self._news = threading.Condition()
        self._under_way = 0
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
        """Serves this stand-in from now on. What was sent to the one before is still that one's."""
        asyncio.run_coroutine_threadsafe(take_turns(), self._loop).result(PATIENCE)
        platform.url = self.url
        self.platform = platform

    async def _take(self, request: web.Request) -> web.StreamResponse:
        platform = self.platform
        self._under_way += 1
        try:
            answer = await platform.handle(request)
            if isinstance(answer, web.Response):
                with contextlib.suppress(ConnectionError):  # who asked is gone
                    await answer.prepare(request)
                    await answer.write_eof()
            return answer
        finally:
            self._under_way -= 1
            with self._news:
                self._news.notify_all()

    def wait_until(self, ready: Callable[[], bool]) -> bool:
        """Whether something came about within the world's patience."""
        with self._news:
            return self._news.wait_for(ready, PATIENCE)

    @contextlib.contextmanager
    def unseen(self) -> Iterator[None]:
        """No step that waits sees the stand-in before the block ends."""
        with self._news:
            yield

    def wait_answered(self) -> None:
        """Waits until every request that came is answered."""
        assert self.wait_until(lambda: self._under_way == 0), self.platform.seen

    def close(self) -> None:
        runner = self._server.runner
        assert runner is not None
        asyncio.run_coroutine_threadsafe(close_runner(runner), self._loop).result(PATIENCE)
        end_loop(self._loop, self._thread)
