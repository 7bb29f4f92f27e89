"""Works off uploads, or sources, several at a time, and never lets one user's keep another's waiting."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from adapters.tasks import cancelled, end
from domain.refusals import Unavailable

log = logging.getLogger(__name__)

IDLE_LOOK = 0.5
"""Seconds between looks for the uploads of other processes."""
AWAY = 2.0

W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Takes(Protocol[W_co]):
    """Gives the next upload; `newcomers_only`: of a user none of whose uploads is being worked on, or a short one of
    a user none of whose short ones is."""

    async def __call__(self, *, newcomers_only: bool) -> W_co | None: ...


class UploadLoop(Generic[W]):
    """`take` leases the next upload, `work` works on it to its end; `news` is set when one came in here.

    Beyond `concurrency` slots there are as many again for users who hold none, and for short uploads: whoever fills
    all slots with large files keeps neither others waiting nor their own small files.
    """

    def __init__(
        self,
        take: Takes[W],
        work: Callable[[W], Awaitable[None]],
        news: asyncio.Event,
        concurrency: int,
        name: str = "uploads",
    ) -> None:
        self._take = take
        self._work = work
        self._news = news
        self._concurrency = concurrency
        self._name = name
        self.tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def run(self) -> None:
        while not self._stopping:
            self._news.clear()
            pause = IDLE_LOOK
            try:
                if await self._take_one():
                    continue
            except Unavailable:
                pause = AWAY
            except Exception:
                log.exception("looking for %s failed", self._name)
                pause = AWAY
            if cancelled():
                return
            await self._wait(pause)

    async def stop(self) -> None:
        """Stops at once: what is under way is staged and taken up again by the next process."""
        self._stopping = True
        self._news.set()
        await end(self.tasks, self._name)

    async def _take_one(self) -> bool:
        """Begins with the next upload that there is a slot for; whether there was one."""
        if len(self.tasks) >= 2 * self._concurrency:
            return False
        work = await self._take(newcomers_only=len(self.tasks) >= self._concurrency)
        if work is None or self._stopping:
            return False
        task = asyncio.create_task(self._finish(work))
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return True

    async def _finish(self, work: W) -> None:
        try:
            await self._work(work)
        except Unavailable as refusal:
            log.warning("one of the %s is repeated later: %s", self._name, refusal.message)
        except Exception:
            log.exception("working on one of the %s failed", self._name)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self._news.set()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return
