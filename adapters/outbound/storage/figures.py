"""`ports.monitoring.FigureStore` in PostgreSQL, and the periodic count of what happened to messages.

Rows are counted once by the time at which they were received, answered or given up: each count takes what lies
between the end of the one before and a moment before which no transaction is open any more, in one transaction with
the new end.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.outbound.storage import counting
from adapters.outbound.storage.arrays import Bigints, Doubles
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.monitoring.model import BOUNDS, FAILED, RECEIVED, Period

SQL = read_statements(
    Path(__file__).with_suffix(".sql"),
    received=RECEIVED,
    failed=FAILED,
    settled=counting.SETTLED,
    failures=counting.FAILED,
)


class PostgresFigures:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def measures(
        self, period: Period, instance_ids: Sequence[int] | None
    ) -> tuple[datetime, Mapping[datetime, Mapping[int, int]]]:
        until = await self._database.fetch_value(SQL["figures_until"])
        parameters = {"step": period.step, "until": until, "length": period.step * period.points}
        if instance_ids is None:
            rows = await self._database.fetch(SQL["figures_of_all"], parameters)
        else:
            rows = await self._database.fetch(
                SQL["figures_of_some"], {**parameters, "ids": Bigints(instance_ids)}
            )
        measures: dict[datetime, dict[int, int]] = {}
        for at, measure, count in rows:
            measures.setdefault(at, {})[measure] = count
        return until, measures

    @retried
    async def count(self) -> None:
        """Counts what happened since the last time, unless another process does just now."""
        async with self._database.transaction() as connection:
            await connection.execute(SQL["begin_figures"])
            row = await (await connection.execute(SQL["lock_figures"])).fetchone()
            if row is None or row[2] <= row[0]:
                return
            parameters: dict[str, Any] = dict(zip(("since", "inbox", "until"), row, strict=True))
            steps = Bigints(period.step for period in Period)
            await connection.execute(
                SQL["count_figures"], {**parameters, "bounds": Doubles(BOUNDS), "steps": steps}
            )
            await connection.execute(SQL["move_figures"], parameters)
