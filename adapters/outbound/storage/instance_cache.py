"""Instances in memory, for the path of a message."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from domain.instances.health import UNDECRYPTED
from domain.instances.model import UNREADABLE, Instance
from domain.refusals import Unavailable

CACHE_SECONDS = 10.0
CACHE_SIZE = 10_000


class InstanceCache:
    """Instances that `find` read at most `CACHE_SECONDS` ago."""

    def __init__(self, find: Callable[[int], Awaitable[Instance | None]]) -> None:
        self._find = find
        self._read: dict[int, tuple[float, Instance | None]] = {}
        self._reading: dict[int, asyncio.Task[Instance | None]] = {}

    async def get(self, instance_id: int) -> Instance | None:
        """Raises `Unavailable` for an instance that cannot be decrypted."""
        read = self._read.get(instance_id)
        if read and time.monotonic() - read[0] < CACHE_SECONDS:
            return read[1]
        reading = self._reading.get(instance_id)
        if reading is None:
            reading = self._reading[instance_id] = asyncio.create_task(self._load(instance_id))
        return await asyncio.shield(reading)

    async def _load(self, instance_id: int) -> Instance | None:
        """Reads once for all that ask at the same time. What was dropped meanwhile is not remembered."""
        now, this = time.monotonic(), asyncio.current_task()
        try:
            instance = await self._find(instance_id)
            if instance is not None and instance.status == UNREADABLE:
                raise Unavailable(f"the instance {instance_id} waits: {UNDECRYPTED}")
            if self._reading.get(instance_id) is this:
                if len(self._read) >= CACHE_SIZE:
                    self._read.clear()
                self._read[instance_id] = (now, instance)
            return instance
        finally:
            if self._reading.get(instance_id) is this:
                del self._reading[instance_id]

    def drop(self, instance_id: int | None) -> None:
        for memory in (self._read, self._reading):
            if instance_id is None:
                memory.clear()
            else:
                memory.pop(instance_id, None)
