"""Deletes old rows in small steps: one process at a time, with a pause after each step."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.states import ASYNC_COMMIT
from adapters.outbound.storage.retention.long_conversations import LongConversations
from adapters.outbound.storage.retention.removed_instances import RemovedInstances
from adapters.outbound.storage.retention.repeated_files import RepeatedFiles
from adapters.outbound.storage.retention.rules import Rule, Times, overdue, rules
from adapters.tasks import cancelled

log = logging.getLogger(__name__)

BATCH = 1000
"""Rows that one statement deletes: some ten milliseconds of work."""
LONGEST_RUN = 240.0
"""Seconds after which a run ends; the next one goes on where it stopped."""
LOCK = f"SELECT pg_try_advisory_xact_lock(1985174040), {ASYNC_COMMIT}"
"""What a crash of the database takes back is deleted again."""
BLOATED = """
SELECT relname FROM pg_stat_user_tables WHERE n_dead_tup > greatest(100000, n_live_tup) ORDER BY relname
"""
LATE = 86_400.0
"""Seconds that a row may be overdue before it is told as a fault."""
SMALL_TABLES = (
    "DELETE FROM event_listener WHERE until < now()",
    "DELETE FROM verification_code WHERE expires_at < now()",
)
"""Tables with a row for each reader and for each person who is just now verified."""


class Retention:
    """`removed` is told of each step's table and number of rows."""

    def __init__(
        self,
        database: Database,
        times: Times,
        removed: Callable[[str, int], None] = lambda _table, _rows: None,
    ) -> None:
        self._database = database
        self.rules: Sequence[Rule] = tuple(rules(times))
        self._others = (LongConversations(), RemovedInstances(), RepeatedFiles())
        self._removed = removed

    async def clean(self, now: datetime | None = None, seconds: float = LONGEST_RUN) -> int:
        """How many rows were deleted. `now`: by another clock than the server's."""
        ends, count = time.monotonic() + seconds, 0
        for statement in SMALL_TABLES:
            count += await self._database.execute(statement)
        async for table, rows, took in self._steps(now):
            self._removed(table, rows)
            count += rows
            if cancelled() or time.monotonic() > ends:
                break
            if rows:
                await asyncio.sleep(took)
        return count

    async def _steps(self, now: datetime | None) -> AsyncIterator[tuple[str, int, float]]:
        """Of each step: the table, the rows, and how long it took. Ends early while another process cleans."""
        for rule in self.rules:
            parameters = {"now": now, "kept": rule.kept, "batch": BATCH, "after": rule.start}
            rows = BATCH
            while rows == BATCH:
                began = time.monotonic()
                found = await self._step(rule.delete, parameters)
                if found is None:
                    return
                rows, last = found
                parameters["after"] = last
                yield rule.table, rows, time.monotonic() - began
        for other in self._others:
            async for table, statement, parameters in other.steps(self._database, now):
                began, found = time.monotonic(), await self._step(statement, {**parameters, "batch": BATCH})
                if found is None:
                    return
                other.took(found[0])
                yield table, found[0], time.monotonic() - began

    @retried
    async def _step(self, statement: str, parameters: Mapping[str, Any]) -> tuple[int, Any] | None:
        """None where another process has the lock."""
        async with self._database.transaction(STATEMENT_SECONDS) as connection:
            row = await (await connection.execute(LOCK)).fetchone()
            if not row or not row[0]:
                return None
            [found] = await (await connection.execute(statement, parameters)).fetchall()
            return found

    async def overdue(self, now: datetime | None = None) -> Mapping[str, float]:
        """For how many seconds the oldest row of each rule has been due; 0 where none is."""
        given = {f"kept{place}": rule.kept for place, rule in enumerate(self.rules)}
        rows = await self._database.fetch(overdue(self.rules), {"now": now, **given})
        ages = {self.rules[place].name: max(0.0, age or 0.0) for place, age in rows}
        return {rule.name: ages.get(rule.name, 0.0) for rule in self.rules}

    async def late(self) -> Sequence[str]:
        """The rules whose oldest row has been due for more than a day."""
        return [name for name, seconds in (await self.overdue()).items() if seconds > LATE]

    async def bloated(self) -> Sequence[str]:
        """Large tables of which more than half is dead rows."""
        return await self._database.fetch_column(BLOATED)
