"""A downstream resource that answers as a scenario says."""

import asyncio
import threading
from collections.abc import Callable

from domain.routing.model import RunRequest, RunResult
from tests.drivers.world import PATIENCE, World

RenderedText = Callable[[RunRequest], RunResult]


class Resource:
    """Stands behind every id that no built-in has; `script` makes the answers."""

    def __init__(self, world: World, script: RenderedText) -> None:
        self.world = world
        self.script = script
        self.requests: list[RunRequest] = []
        self.hold: asyncio.Event | None = None
        self._news = threading.Condition()
        world.container.resources().router.default = self

    async def run(self, request: RunRequest) -> RunResult:
        with self._news:
            self.requests.append(request)
            self._news.notify_all()
        if self.hold is not None:
            await self.hold.wait()
        return self.script(request)

    def wait_for(self, count: int) -> list[RunRequest]:
        """Waits until it was asked so often."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.requests) >= count, PATIENCE), self.requests
        return self.requests
