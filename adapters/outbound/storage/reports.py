"""`ports.monitoring.ReportStore` in PostgreSQL, and the periodic count of what happened on each day.

What happened is counted once, by the time at which it happened: each step takes what lies between the end of the one
before and a moment before which no transaction is open any more, in one transaction with the new end.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from adapters.outbound.storage import counting
from adapters.outbound.storage.arrays import Bigints, Doubles
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.tasks import cancelled
from domain.feedback.model import PREFIX
from domain.paging import Page, cursor_of, read_cursor, unknown_cursor
from domain.reports.model import BOUNDS, CLOSINGS, FIRST_ANSWERS, WAITS, Dimension, Measure, ReportKey

STEP = "15 minutes"
"""The time of which a step counts at most: after a pause there are several."""
SQL = read_statements(
    Path(__file__).with_suffix(".sql"),
    step=STEP,
    settled=counting.SETTLED,
    failures=counting.FAILED,
    thumb=PREFIX,
    m={measure.name: int(measure) for measure in Measure},
    first_answers=FIRST_ANSWERS,
    closings=CLOSINGS,
    first_waits=WAITS,
)
COLUMNS = {
    Dimension.DAY: ("r.day", "date '1970-01-01'"),
    Dimension.INSTANCE: ("r.instance_id", "0::bigint"),
    Dimension.TEAM: ("coalesce(m.team_id, 0)", "0::bigint"),
    Dimension.PERSON: ("r.user_id", "''"),
}
"""Of `report`, and what stands for all days, instances, teams and colleagues."""
BEGINNING = (date.min, -1, 0, "")
"""Lower than the key of each row."""


class PostgresReports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def counts(
        self,
        by: Collection[Dimension],
        days: tuple[date, date],
        instance_ids: Sequence[int] | None,
        limit: int,
        cursor: str | None,
    ) -> Page[tuple[ReportKey, Mapping[int, int]], str]:
        columns = {
            dimension: column if dimension in by else rest for dimension, (column, rest) in COLUMNS.items()
        }
        condition = "" if instance_ids is None else " AND r.instance_id = ANY(%(ids)s)"
        teams = " LEFT JOIN team_member m ON m.user_id = r.user_id" if Dimension.TEAM in by else ""
        statement = SQL["report"].format(**columns, teams=teams, instances=condition)
        day, instance, team, user = _position(cursor)
        parameters: dict[str, Any] = {
            "first": days[0],
            "last": days[1],
            "ids": Bigints(instance_ids or ()),
            "day": day,
            "instance": instance,
            "team": team,
            "user": user,
            "count": limit + 1,
        }
        rows = await self._database.fetch(statement, parameters)
        page = [
            (_key(by, *key), {int(measure): count for measure, count in counts.items()})
            for *key, counts in rows[:limit]
        ]
        if len(rows) <= limit:
            return Page(page, None)
        day, instance, team, _, user, _ = rows[limit - 1]
        return Page(page, cursor_of(day.isoformat(), instance, team, user))

    async def count(self) -> None:
        """Counts what happened since the last time, unless another process does just now."""
        while await self._step() and not cancelled():
            pass

    @retried
    async def _step(self) -> bool:
        """Returns True if there is more to count."""
        async with self._database.transaction() as connection:
            await connection.execute(SQL["begin_reports"])
            row = await (await connection.execute(SQL["lock_reports"])).fetchone()
            if row is None or row[2] <= row[0]:
                return False
            since, inbox, until, has_more = row
            parameters = {"since": since, "inbox": inbox, "until": until, "bounds": Doubles(BOUNDS)}
            for name in ("count_day_messages", "count_answers", "count_votes", "move_reports"):
                await connection.execute(SQL[name], parameters)
            return bool(has_more)


def _key(
    by: Collection[Dimension], day: date, instance_id: int, team_id: int, team_name: str | None, user_id: str
) -> ReportKey:
    return ReportKey(
        day.isoformat() if Dimension.DAY in by else None,
        instance_id if Dimension.INSTANCE in by else None,
        team_id if Dimension.TEAM in by else None,
        team_name,
        user_id if Dimension.PERSON in by else None,
    )


def _position(cursor: str | None) -> tuple[date, int, int, str]:
    """Raises `Invalid`."""
    position = read_cursor(cursor, str, int, int, str)
    if position is None:
        return BEGINNING
    day, instance, team, user = position
    try:
        return date.fromisoformat(str(day)), int(instance), int(team), str(user)
    except ValueError:
        raise unknown_cursor() from None
