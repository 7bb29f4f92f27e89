"""Values on their way from a thread to the event loop: the thread waits while one is not yet used up."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

from adapters.tasks import seen

T = TypeVar("T")

AHEAD = 2
"""So many values are held, the one in use included."""


class BoundedQueue(Generic[T]):
    """`put` is called by the thread, the rest on the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._values: asyncio.Queue[T | None] = asyncio.Queue()
        self._free = threading.Semaphore(AHEAD)
        self._closed = False

    def put(self, value: T) -> None:
        """Waits for room. What comes after the end is dropped."""
        self._free.acquire()
        if self._closed:
            self._free.release()
        else:
            self._loop.call_soon_threadsafe(self._values.put_nowait, value)

    async def values(self, source: asyncio.Task[None]) -> AsyncGenerator[T, None]:
        """What is put until `source` ends, and then its error if it has one. Ends it when nobody wants more."""
        source.add_done_callback(lambda _: self._values.put_nowait(None))
        source.add_done_callback(seen)
        try:
            while (value := await self._values.get()) is not None:
                yield value
                self._free.release()
            await source
        finally:
            self._closed = True
            self._free.release()
            source.cancel()
            await asyncio.gather(source, return_exceptions=True)
