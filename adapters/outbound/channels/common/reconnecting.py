"""Keeps one connection of an instance: connects again after a growing pause, as long as the platform fails."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ports.capabilities import PlatformError
from ports.connections import LinkRecorder

log = logging.getLogger(__name__)

FIRST_PAUSE = 2.0
LONGEST_PAUSE = 300.0


class Refused(PlatformError):
    """The platform does not accept this configuration; trying again is useless until it changes."""


@dataclass(slots=True)
class Attempt:
    """`greeted`: the platform accepted this connection."""

    greeted: bool = False


class StatelessConnector:
    """What `ports.capabilities.Connector` asks of a connection that keeps nothing on this machine and needs nothing
    installed."""

    async def unlink(self, instance_id: int) -> None:
        return

    async def stored(self) -> Sequence[int]:
        return ()

    def lacks(self) -> str | None:
        return None


async def keep_connected(
    connect: Callable[[Attempt], Awaitable[None]], instance_id: int, recorder: LinkRecorder
) -> None:
    """Runs until it is cancelled. `connect` raises `PlatformError` when its connection breaks, and returns when the
    platform asks for a new one."""
    failures = 0
    while True:
        attempt = Attempt()
        try:
            await connect(attempt)
            failures = 0
            await asyncio.sleep(FIRST_PAUSE)
        except PlatformError as error:
            failures = 1 if attempt.greeted else failures + 1
            await recorder.set_connected_since(None)
            if failures == 1:
                await recorder.record_failure(str(error))
            log.warning("%s", error, extra={"instance": instance_id})
            await asyncio.sleep(pause_seconds(failures, error))


def pause_seconds(failures: int, error: PlatformError) -> float:
    """Seconds to the next connection after `failures` failed ones in a row."""
    if isinstance(error, Refused):
        return LONGEST_PAUSE
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 20))
    return max(pause, error.retry_after or 0.0)
