"""The database's clock may be put back: what was planned by it before is then due by the new time."""

import logging
import time
from collections.abc import Callable
from typing import Protocol

from adapters.outbound.storage.pool import Database

log = logging.getLogger(__name__)

TOLERANCE = 5.0
"""Seconds that a clock may be corrected by without notice."""

NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"

BRING_FORWARD = f"""
UPDATE queue SET due_at = due_at - (touched_at - now()), touched_at = now()
WHERE pending > 0 AND owner IS NULL AND due_at > now() AND touched_at > now() + interval '{TOLERANCE} seconds'
"""
"""Queues that were changed in what is the future now. Index `queue_due`."""


class Polls(Protocol):
    async def poll_all(self) -> None: ...


class DatabaseClock:
    """Compares the database's clock with the steady one of this process."""

    def __init__(
        self, database: Database, schedules: Polls, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._schedules = schedules
        self._steady = steady
        self._ahead: float | None = None

    async def look(self) -> None:
        """Takes care of what waits for a time that is further away now."""
        ahead = float(await self._database.fetch_value(NOW)) - self._steady()
        before, self._ahead = self._ahead, ahead
        if before is None or abs(ahead - before) < TOLERANCE:
            return
        log.warning("the database's clock was changed by %.0f seconds", ahead - before)
        if ahead < before:
            await self._database.execute(BRING_FORWARD)
            await self._schedules.poll_all()
