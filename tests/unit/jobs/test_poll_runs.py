"""A run that is told to end while the database hangs ends without a stack trace."""

import asyncio
import gc
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from adapters.inbound.jobs.periodic import PollRuns
from domain.instances.model import Instance
from domain.refusals import StorageAway

NOW = datetime(2026, 3, 1, tzinfo=UTC)
INSTANCE = Instance(7, "ann", "x", "n", {}, None, NOW, NOW)


async def test_what_a_cancelled_run_fails_with_is_nobodys_concern() -> None:
    began, told = asyncio.Event(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    async def run(instance_id: int) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise StorageAway("the lease could not be given back")

    async def find(instance_id: int) -> Instance:
        return INSTANCE

    polling: Any = SimpleNamespace(run=run)
    instances: Any = SimpleNamespace(find=find)
    job = asyncio.create_task(PollRuns(polling, instances, lambda _: None).run(7))
    await began.wait()
    job.cancel()
    await asyncio.wait([job])
    assert job.cancelled()
    del job
    await asyncio.sleep(0)
    gc.collect()
    assert told == []
