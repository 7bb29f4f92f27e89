"""Group commit: concurrent writers share one statement, and so one commit.

No timer is involved: while one batch is being committed the next one gathers, so a lone writer pays nothing
and a crowd pays one commit for up to `max_batch` items.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from domain.refusals import Unavailable

T = TypeVar("T")
R = TypeVar("R")


class Batcher(Generic[T, R]):
    """Hands gathered items to `flush`, which answers one result for each, in order.

    Items of the same `shard` go through the same writer, so they keep their order and never wait for each
    other's row locks across writers.
    """

    def __init__(
        self,
        flush: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        *,
        writers: int = 2,
        max_batch: int = 128,
    ) -> None:
        self._writers = [_Writer(flush, max_batch) for _ in range(writers)]

    async def submit(self, shard: Hashable, item: T) -> R:
        """The result for this item, once its batch is committed. Raises what `flush` raised."""
        return await self._writers[hash(shard) % len(self._writers)].submit(item)

    async def close(self) -> None:
        """Waits until all that was submitted is committed."""
        for writer in self._writers:
            await writer.close()


class _Writer(Generic[T, R]):
    def __init__(self, flush: Callable[[Sequence[T]], Awaitable[Sequence[R]]], max_batch: int) -> None:
        self._flush = flush
        self._max = max_batch
        self._queue: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def submit(self, item: T) -> R:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._queue.append((item, future))
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        try:
            while self._queue:
                batch = [self._queue.popleft() for _ in range(min(self._max, len(self._queue)))]
                await self._commit(batch)
        finally:
            self._task = None

    async def _commit(self, batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._flush([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - handed on to each of those that wait
            if len(batch) > 1 and not isinstance(error, Unavailable):
                for each in batch:  # one that cannot be stored must not cost the others
                    await self._commit([each])
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)

    async def close(self) -> None:
        while self._task is not None:
            await asyncio.wait([self._task])
