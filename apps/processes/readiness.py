"""What a process needs to be ready."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from adapters.outbound.jobs.arq_queue import ArqQueue
from adapters.outbound.storage.migrate import READ, SchemaVersion, head
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.storage.writing import check_writable
from adapters.tasks import seen

FRESH_SECONDS = 1.0
"""How long the outcome of a check is told again without another look."""
LOOK_SECONDS = 10.0
"""After so long a look is given up, as it may hang with one connection while the next one works."""


Check = Callable[[], Awaitable[None]]


class SharedCheck:
    """Makes a check once for all who ask at the same time or within a second: many callers are no load.

    Who stops waiting does not end the check, as a database that hangs could hold up its end too.
    """

    def __init__(self, check: Check) -> None:
        self._check = check
        self._task: asyncio.Task[None] | None = None
        self._ended = 0.0

    async def __call__(self) -> None:
        """Raises what the check raised."""
        if self._task is None or (self._task.done() and time.monotonic() - self._ended >= FRESH_SECONDS):

            async def look() -> None:
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._check()
                finally:
                    self._ended = time.monotonic()

            self._task = asyncio.create_task(look())
            self._task.add_done_callback(seen)
        await asyncio.shield(self._task)


def checks_of(database: Database, queue: ArqQueue, processes: PostgresProcesses) -> dict[str, Check]:
    """For each thing that is needed what raises when it is not there. Components may add others."""
    newest = head()

    async def migrations_done() -> None:
        version = SchemaVersion(*(await database.fetch_one(READ) or (None,)))
        if fault := version.fault(newest):
            raise RuntimeError(fault)

    return {
        "database": SharedCheck(partial(check_writable, database)),
        "queue": SharedCheck(queue.ping),
        "migrations": SharedCheck(migrations_done),
        "workers": SharedCheck(partial(check_workers, processes)),
    }


async def check_workers(processes: PostgresProcesses) -> None:
    """Raises `RuntimeError`."""
    seconds = await processes.unworked()
    if seconds is not None:
        raise RuntimeError(
            f"no worker runs, and messages have waited for {seconds:.0f} seconds; start `switchboard worker`, or"
            " `switchboard up`"
        )
