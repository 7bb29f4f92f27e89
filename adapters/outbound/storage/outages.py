"""What was done must not be done again because the database was away or busy when it was to be noted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from adapters.outbound.storage.leases import LEASE_SECONDS
from adapters.tasks import cancelled
from domain.refusals import Unavailable

T = TypeVar("T")

PAUSE_SECONDS = 0.5


async def waited_out(note: Callable[[], Awaitable[T]]) -> T:
    """The result of `note`, tried again through an outage or a conflict as long as the lease on the work lasts.

    `note` must be harmless when done twice: the answer to a commit may be lost. Raises `Unavailable`.
    """
    deadline = time.monotonic() + LEASE_SECONDS
    while True:
        try:
            return await note()
        except Unavailable:
            if cancelled() or time.monotonic() >= deadline:
                raise
        await asyncio.sleep(PAUSE_SECONDS)
