"""Works off uploads, several at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from domain.refusals import Unavailable

log = logging.getLogger(__name__)

IDLE_LOOK = 0.5
"""Seconds between looks for the uploads of other processes."""
AWAY = 2.0


class UploadLoop:
    """`work_one` does the next upload and says whether there was one; `news` is set when one came in here."""

    def __init__(
        self, work_one: Callable[[], Awaitable[bool]], news: asyncio.Event, concurrency: int
    ) -> None:
        self._work_one = work_one
        self._news = news
        self._concurrency = concurrency
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._concurrency)]
        await asyncio.gather(*self._tasks)

    async def stop(self) -> None:
        """Stops at once: what is under way is staged and taken up again by the next process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            try:
                if await self._work_one():
                    continue
                pause = IDLE_LOOK
            except Unavailable:
                pause = AWAY
            except Exception:
                log.exception("looking for uploads failed")
                pause = AWAY
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), pause)
