"""Work that is done for an instance, and that ends when the instance is changed or removed."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.tasks import end
from domain.instances.model import Instance
from domain.refusals import Unavailable
from ports.instances import InstanceLookup


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    instance_id: int
    version: datetime
    task: asyncio.Task[None]


class InstanceTasks:
    """Tasks of this process; `changed` is told of every instance that may have changed."""

    def __init__(self, instances: InstanceLookup) -> None:
        self._instances = instances
        self._works: set[_Work] = set()
        self._checks: set[asyncio.Task[None]] = set()

    def begin(self, instance: Instance, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts `work`, which was made for the instance as it is here."""
        begun = _Work(instance.id, instance.updated_at, asyncio.create_task(work))
        self._works.add(begun)
        begun.task.add_done_callback(lambda _: self._works.discard(begun))
        return begun.task

    def has(self, instance_id: int) -> bool:
        """Whether there is work for the instance."""
        return any(work.instance_id == instance_id for work in self._works)

    def changed(self, instance_id: int | None) -> None:
        """The instance, or any with None, may have changed: work for what it was is ended."""
        for id in {work.instance_id for work in self._works if instance_id in (None, work.instance_id)}:
            check = asyncio.get_running_loop().create_task(self._check(id))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)

    async def _check(self, instance_id: int) -> None:
        try:
            instance = await self._instances.find(instance_id)
        except Unavailable:
            return  # once the database is back, everything is told to be looked at again
        for work in tuple(self._works):
            if work.instance_id == instance_id and (instance is None or instance.updated_at != work.version):
                work.task.cancel()

    async def stop(self) -> None:
        """Ends all of it."""
        await end([*self._checks, *(work.task for work in self._works)], "work for instances")
