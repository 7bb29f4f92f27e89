"""The body of the job that polls or fires: a run of an instance, ended when the instance changes."""

import asyncio
from collections.abc import Callable

from adapters.inbound.jobs.instance_tasks import InstanceTasks
from adapters.tasks import seen
from domain.instances.model import Instance
from domain.polling.service import PollingService
from ports.instances import InstanceLookup


class PollRuns:
    """Runs what is due; `done` is told of each instance whose run came to its end."""

    def __init__(
        self, polling: PollingService, instances: InstanceLookup, done: Callable[[Instance], None]
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
