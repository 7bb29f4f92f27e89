"""The job queue and its worker as a part of a process."""

from __future__ import annotations

import asyncio

from adapters.inbound.jobs.arq_worker import SupervisedWorker
from adapters.inbound.jobs.upkeep import Chore, Upkeep
from adapters.outbound.jobs.arq_queue import QUEUE
from adapters.outbound.storage.retention import Retention
from apps.container import Container
from apps.parts import GRACE


class JobsPart:
    """Runs the jobs, and asks for those that come again and again."""

    name = "jobs"

    def __init__(self, container: Container) -> None:
        self._queue = container.jobs()
        retention = Retention(container.database())

        async def clean(_: int) -> None:
            await retention.clean()

        self._worker = SupervisedWorker(self._queue.redis, QUEUE, {"clean": clean})
        self._upkeep = Upkeep([Chore("cleaning", 3600.0, lambda: self._queue.enqueue("clean"))])

    async def start(self) -> None:
        return

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._worker.run())
            self._upkeep_task = group.create_task(self._upkeep.run())

    async def stop(self) -> None:
        await self._worker.stop(GRACE)
        self._upkeep_task.cancel()
        await self._queue.close()
