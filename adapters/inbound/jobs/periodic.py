"""Tasks that a process repeats: its heartbeat, renewal of leases, polls and schedules."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from adapters.inbound.jobs.watching import InstanceTasks
from adapters.tasks import cancelled, seen
from domain.instances.model import Instance
from domain.polling.service import PollingService
from domain.refusals import Unavailable
from ports.instances import InstanceStore

log = logging.getLogger(__name__)

LONGEST_PAUSE = 10.0
"""Seconds; leases that are not prolonged for longer are lost."""


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """`run` every `every` seconds; its failure is logged and stops nothing. One that keeps failing while the
    database answers is tried ever less often, down to every `LONGEST_PAUSE` seconds."""

    name: str
    every: float
    run: Callable[[], Awaitable[object]]


class PeriodicRunner:
    """Runs tasks, each at its own interval."""

    def __init__(self, tasks: list[PeriodicTask]) -> None:
        self._tasks = tasks

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for task in self._tasks:
                group.create_task(self._repeat(task))

    async def _repeat(self, task: PeriodicTask) -> None:
        failures = 0
        while True:
            pause = task.every
            try:
                await task.run()
                failures = 0
            except Unavailable:
                log.debug("%s: the database is away", task.name)
            except Exception:
                failures += 1
                pause = max(pause, min(LONGEST_PAUSE, max(pause, 1.0) * 2 ** min(failures - 1, 8)))
                log.exception("%s failed; it is tried again in %s seconds", task.name, pause)
            if cancelled():
                return
            await asyncio.sleep(pause)


class AbandonedLeases:
    """Frees the leases of processes that were dead at two looks in a row."""

    def __init__(
        self,
        abandoned: Callable[[], Awaitable[set[int]]],
        free: Sequence[Callable[[Sequence[int]], Awaitable[None]]],
        freed: Callable[[], None],
    ) -> None:
        self._abandoned = abandoned
        self._free_of = free
        self._freed = freed
        self._suspects: set[int] = set()

    async def free(self) -> None:
        abandoned = await self._abandoned()
        dead = abandoned & self._suspects
        self._suspects = abandoned - dead
        if dead:
            log.warning("freed the leases of %d dead process(es)", len(dead))
            for free in self._free_of:
                await free(sorted(dead))
            self._freed()


class PollRuns:
    """Runs what is due; calls `done` with each instance whose run ended."""

    def __init__(
        self, polling: PollingService, instances: InstanceStore, done: Callable[[Instance], None]
    ) -> None:
        self._polling = polling
        self._instances = instances
        self._done = done
        self._tasks = InstanceTasks(instances)

    async def run(self, instance_id: int) -> None:
        instance = await self._instances.find(instance_id)
        if instance is None:
            return
        task = self._tasks.begin(instance, self._polling.run(instance_id))
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.add_done_callback(seen)
            task.cancel()
            await asyncio.wait([task])
            raise
        if task.cancelled():  # the instance was changed; its next run has been planned
            return
        task.result()
        self._done(instance)

    def changed(self, instance_id: int | None) -> None:
        """An instance (None: any) may have changed: a run for what it was is of no use."""
        self._tasks.changed(instance_id)
