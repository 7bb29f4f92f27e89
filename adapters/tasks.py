"""Ends tasks in a bounded time, and tells loops that they were told to end."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

log = logging.getLogger(__name__)

CANCEL_SECONDS = 2.0
"""What cancelled tasks get for closing what they opened."""
AGAIN_SECONDS = 0.2
"""What they get after a second cancellation, which interrupts the closing."""


def cancelled() -> bool:
    """Return True if the current task was cancelled, also if something within it swallowed the cancellation.

    A loop that outlives failures asks this after each: a `CancelledError` may have become another error on its way.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def seen(task: asyncio.Task[Any]) -> None:
    """For `add_done_callback`: marks an error as seen that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


async def end(tasks: Iterable[asyncio.Task[Any]], what: str, seconds: float = CANCEL_SECONDS) -> None:
    """Cancels the tasks and waits up to `seconds` for their end. Those that go on are left behind, and logged."""
    left = {task for task in tasks if not task.done()}
    for patience in (seconds, AGAIN_SECONDS):
        for task in left:
            task.cancel()
        if left:
            _, left = await asyncio.wait(left, timeout=patience)
    if left:
        log.warning("%s: %d task(s) did not end when they were cancelled; left behind", what, len(left))
