"""What was done must not be done again because the database was away when it was to be recorded."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from adapters.outbound.storage.queue.states import LEASE_SECONDS
from adapters.tasks import cancelled
from domain.refusals import Unavailable

T = TypeVar("T")

PAUSE_SECONDS = 0.5


async def through_outage(record: Callable[[], Awaitable[T]]) -> T:
    """The result of `record`, repeated through an outage or a conflict as long as the lease on the work lasts.

    `record` must be idempotent: the answer to a commit may be lost. Raises `Unavailable`.
    """
    deadline = time.monotonic() + LEASE_SECONDS
    while True:
        try:
            return await record()
        except Unavailable:
            if cancelled() or time.monotonic() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
