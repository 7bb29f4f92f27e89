"""Group commit: concurrent writers share one statement, and so one commit.

No timer is involved: while one batch is being committed the next one gathers, so a crowd pays one commit for up
to `max_batch` items. A second commit runs beside the first only for a crowd: each costs as much as many items, and
where commits are quick a few large ones serve all sooner than many small ones.

What was done must not be done again because the database was away when it was to be recorded.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from adapters.outbound.storage.queue.statements import LEASE_SECONDS
from adapters.tasks import cancelled
from domain.refusals import StorageAway, Unavailable

T = TypeVar("T")
R = TypeVar("R")


class _Item(NamedTuple, Generic[T, R]):
    shard: Hashable
    value: T
    future: asyncio.Future[R]


class Batcher(Generic[T, R]):
    """Hands gathered items to `flush`, which answers one result for each, in order.

    Items of the same `shard` are never in two commits at once, so they keep their order and do not wait for each
    other's row locks. Up to `writers` commits run at once, those beyond the first once `crowd` items wait.
    """

    def __init__(
        self,
        flush: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        *,
        writers: int = 2,
        max_batch: int = 128,
        crowd: int = 32,
    ) -> None:
        self._flush = flush
        self._writers = writers
        self._max = max_batch
        self._crowd = crowd
        self._queue: deque[_Item[T, R]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._committing: set[Hashable] = set()

    async def submit(self, shard: Hashable, item: T) -> R:
        """The result for this item, once its batch is committed. Raises what `flush` raised for this item alone.

        A batch that fails is committed by halves, so that one bad item among 128 costs 14 more statements. An
        outage is no fault of an item: all get its error.
        """
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._queue.append(_Item(shard, item, future))
        if not self._running or (self._running < self._writers and len(self._queue) >= self._crowd):
            self._running += 1
            task = asyncio.create_task(self._drain())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _drain(self) -> None:
        try:
            while batch := self._next_batch():
                shards = {item.shard for item in batch}
                self._committing |= shards
                try:
                    await self._commit(batch)
                finally:
                    self._committing -= shards
        finally:
            self._running -= 1  # at once: what is submitted from here on needs another one

    def _next_batch(self) -> list[_Item[T, R]]:
        """The next batch; none where too few wait beside a commit that runs, whose writer will take them."""
        if self._committing and len(self._queue) < self._crowd:
            return []
        batch: list[_Item[T, R]] = []
        later: list[_Item[T, R]] = []
        while self._queue and len(batch) < self._max:
            item = self._queue.popleft()
            (later if item.shard in self._committing else batch).append(item)
        self._queue.extendleft(reversed(later))
        return batch

    async def _commit(self, batch: Sequence[_Item[T, R]]) -> None:
        try:
            results = await self._flush([item.value for item in batch])
        except Exception as error:  # noqa: BLE001 - handed on to each of those that wait
            if len(batch) > 1 and not isinstance(error, StorageAway):
                half = len(batch) // 2  # one that cannot be stored must not cost the others
                await self._commit(batch[:half])
                await self._commit(batch[half:])
                return
            for item in batch:
                if not item.future.done():
                    item.future.set_exception(error)
            return
        for item, result in zip(batch, results, strict=True):
            if not item.future.done():
                item.future.set_result(result)

    async def close(self) -> None:
        """Waits until all that was submitted is committed. Where the database hangs it is the caller who sets an end
        to that; what is not committed was acknowledged to nobody."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))


PAUSE_SECONDS = 0.5


async def through_outage(record: Callable[[], Awaitable[T]]) -> T:
    """The result of `record`, repeated through an outage or a conflict as long as the lease on the work lasts.

    `record` must be idempotent: the answer to a commit may be lost. Raises `Unavailable`.
    """
    deadline = time.monotonic() + LEASE_SECONDS
    while True:
        try:
            return await record()
        except Unavailable:
            if cancelled() or time.monotonic() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
