"""The job queue and its worker as a component of a process."""

from __future__ import annotations

import asyncio

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask, PollRuns
from adapters.inbound.jobs.uploads import SupervisedWorker
from adapters.inbound.jobs.watching import Watchers
from adapters.outbound.jobs.arq_queue import QUEUE
from adapters.outbound.storage.schedules import DatabaseClock, PostgresDeactivation
from apps.components import GRACE
from apps.container import Container
from apps.process import Component, Phase
from domain.polling.service import RUN

REGISTER = "register"
COUNT_SECONDS = 10.0
"""How often figures are brought up to date."""
CLEAN_SECONDS = 300.0
"""How often old rows are looked for. A run that ends before all are gone goes on with the next."""


class JobsComponent(Component):
    """Runs the jobs, and asks for those that come again and again."""

    name = "jobs"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._queue = container.jobs()
        retention, expiry = container.storage().retention, container.storage().conversation_expiry
        self._figures = figures = container.storage().figures
        channels, schedules = container.channels(), container.storage().schedules
        self._polling, self._schedules = channels.polling, channels.schedules
        self._registration = channels.registration

        async def clean(_: int) -> None:
            await retention.clean()

        async def expire(_: int) -> None:
            await figures.count()  # before what was given up cannot be told any more
            await expiry.clean()

        instances, event_bus = container.storage().instances, container.storage().event_bus
        self._watchers = Watchers(instances, channels.registry, schedules)
        runs = PollRuns(self._polling, instances, self._watchers.begin)
        event_bus.on_change(runs.changed)
        event_bus.on_change(self._watchers.changed)
        jobs = {"clean": clean, "expire": expire, RUN: runs.run, REGISTER: self._registration.keep_registered}
        self._clock = DatabaseClock(container.storage().database, self._schedules)
        self._resumed = False
        self._periodic_task: asyncio.Task[None] | None = None
        self.arq_worker = SupervisedWorker(self._queue.redis, QUEUE, jobs)
        self._periodic = PeriodicRunner(self._tasks(container.storage().deactivation))

    def _tasks(self, deactivation: PostgresDeactivation) -> list[PeriodicTask]:
        return [
            PeriodicTask("what is due", 1.0, self._due),
            PeriodicTask("missing schedules", 60.0, self._schedules.plan_missing),
            PeriodicTask("retired instances", 2.0, deactivation.remove_retired),
            PeriodicTask("webhook registration", 900.0, self._register),
            PeriodicTask("changes of the clock", 10.0, self._clock.look),
            PeriodicTask("figures", COUNT_SECONDS, self._figures.count),
            PeriodicTask("old conversations", 60.0, lambda: self._queue.enqueue("expire")),
            PeriodicTask("cleaning", CLEAN_SECONDS, lambda: self._queue.enqueue("clean")),
        ]

    async def _due(self) -> None:
        if not self._resumed:
            await self._schedules.poll_watched()
            self._resumed = True
        while await self._polling.enqueue_due(self._queue):
            pass

    async def _register(self) -> None:
        for instance_id in await self._registration.to_be_checked():
            await self._queue.enqueue(REGISTER, instance_id)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.arq_worker.run())
            self._periodic_task = group.create_task(self._periodic.run())

    async def stop(self) -> None:
        await self.arq_worker.stop(GRACE)
        await self._watchers.stop()
        if self._periodic_task:
            self._periodic_task.cancel()
        await self._queue.close()
