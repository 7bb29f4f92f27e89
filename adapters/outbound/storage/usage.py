"""`ports.usage.UsageStore` in PostgreSQL: sums by day, instance, resource and user."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import orjson

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.paging import Page, cursor_of, read_cursor, unknown_cursor
from domain.usage.model import Dimension, RunUsage, UsageFilter, UsageSum

SQL = read_statements(Path(__file__).with_suffix(".sql"))
ALL = date(1, 1, 1)
"""Stands for the days that are summed up."""
BATCH = 500
"""Runs that one statement puts on record."""


def usage_json(runs: Iterable[tuple[int | None, int, RunUsage]]) -> str | None:
    """The parameter of `add_usage`: runs, each with its event and its instance. None without runs."""
    entries = [
        {
            "event": event,
            "instance": instance_id,
            "resource": run.resource_id,
            "user": run.user_id,
            "currency": run.currency,
            "runs": 1,
            "input": run.usage.input_tokens,
            "output": run.usage.output_tokens,
            "seconds": run.seconds,
            "cost": run.cost,
        }
        for event, instance_id, run in runs
    ]
    return orjson.dumps(entries).decode() if entries else None


@retried
async def count_runs(database: Database) -> None:
    """Adds the runs on record to the sums. Raises `Unavailable`."""
    if await database.fetch_value(SQL["has_runs"]):
        async with database.transaction() as connection:
            await count_runs_in(connection)


async def count_runs_in(connection: Connection) -> None:
    """As `count_runs`, in a transaction during which nobody else adds to the sums."""
    await connection.execute(SQL["lock_sums"])
    await connection.execute(SQL["count_runs"])


class PostgresUsage:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: list[tuple[None, int, RunUsage]] = []
        self._adding = asyncio.Lock()

    def keep(self, instance_id: int, runs: Iterable[RunUsage]) -> None:
        self._kept += [(None, instance_id, run) for run in runs]

    async def flush(self) -> None:
        """Puts on record what was kept. Raises `Unavailable`: then it is kept on."""
        async with self._adding:
            while self._kept:
                runs, self._kept = self._kept[:BATCH], self._kept[BATCH:]
                try:
                    await self._database.execute(SQL["add_kept"], {"spent": usage_json(runs)})
                except BaseException:
                    self._kept = runs + self._kept
                    raise

    async def list(self, usage_filter: UsageFilter, limit: int, cursor: str | None) -> Page[UsageSum, str]:
        await count_runs(self._database)
        position = read_cursor(cursor, str, int, str, str, str)
        day, *others = position or (ALL.isoformat(), -1, "", "", "")
        parameters = {
            "first": usage_filter.first,
            "last": usage_filter.last,
            "instances": None if usage_filter.instance_ids is None else list(usage_filter.instance_ids),
            "asked_by": usage_filter.asked_by,
            "all_days": ALL,
            **{f"by_{dimension}": dimension in usage_filter.by for dimension in Dimension},
            **dict(zip(("instance", "resource", "user", "currency"), others, strict=True)),
            "day": _day(str(day)),
            "count": limit + 1,
        }
        rows = await self._database.fetch(SQL["list_usage"], parameters)
        page = rows[:limit]
        following = None
        if len(rows) > limit:
            day, *others = page[-1][:5]
            following = cursor_of(day.isoformat(), *others)
        return Page([_sum(usage_filter.by, *row) for row in page], following)


def _day(text: str) -> date:
    """Raises `Invalid`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise unknown_cursor() from None


def _sum(
    by: Sequence[Dimension],
    day: date,
    instance_id: int,
    resource_id: str,
    user_id: str,
    currency: str,
    runs: int,
    input_tokens: int,
    output_tokens: int,
    seconds: float,
    cost: float,
) -> UsageSum:
    return UsageSum(
        day.isoformat() if Dimension.DAY in by else None,
        instance_id if Dimension.INSTANCE in by else None,
        resource_id if Dimension.AGENT in by else None,
        user_id if Dimension.USER in by else None,
        currency or None,
        runs,
        input_tokens,
        output_tokens,
        seconds,
        cost,
    )
