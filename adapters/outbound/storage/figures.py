"""`ports.monitoring.FigureStore` in PostgreSQL, and the periodic count of what happened to messages.

Rows are counted once by the time at which they were received, answered or given up: each count takes what lies
between the end of the one before and a moment before which no transaction is open any more, in one transaction with
the new end.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.storage.arrays import Bigints, Doubles
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import EventStatus, MessageStatus
from domain.monitoring.model import BOUNDS, FAILED, RECEIVED, Period

BEGIN = """
INSERT INTO figure_position (id, until, inbox_id) VALUES (1, now() - interval '1 day', 0) ON CONFLICT DO NOTHING
"""
LOCK = """
SELECT greatest(p.until, now() - interval '1 day'), p.inbox_id, (
    SELECT least(now(), min(xact_start)) - interval '2 seconds' FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'switchboard' AND pid <> pg_backend_pid()
) FROM figure_position p FOR UPDATE OF p SKIP LOCKED
"""
"""From when to when rows are to be counted, and the id of the inbox behind which the received ones stand. A
transaction is seen here a moment after its time was taken."""

_WITHIN = "finished_at > %(since)s AND finished_at <= %(until)s"
_BUCKET = "width_bucket(extract(epoch FROM {end}.finished_at - i.received_at)::float8, %(bounds)s)"
_OF_MESSAGE = "(p.inbox_id = o.inbox_id OR p.send_id = o.send_id)"

COUNT = f"""
INSERT INTO figure AS f (instance_id, step, at, measure, count)
SELECT c.instance_id, s.step, date_bin(make_interval(secs => s.step), c.at, timestamptz 'epoch'), c.measure, count(*)
FROM (
    SELECT instance_id, received_at AS at, {RECEIVED} AS measure FROM inbox
    WHERE id > %(inbox)s AND received_at > %(since)s AND received_at <= %(until)s
    UNION ALL
    SELECT instance_id, finished_at, {FAILED} FROM inbox WHERE {_WITHIN} AND status = {EventStatus.FAILED}
    UNION ALL
    SELECT instance_id, finished_at, {FAILED} FROM outbox o
    WHERE {_WITHIN} AND status = {MessageStatus.DEAD} AND NOT apology AND coalesce(inbox_id, send_id) IS NOT NULL
    AND NOT EXISTS (SELECT FROM outbox p WHERE {_OF_MESSAGE} AND p.status = {MessageStatus.DEAD} AND p.id < o.id)
    UNION ALL
    SELECT o.instance_id, o.finished_at, {_BUCKET.format(end="o")} FROM outbox o JOIN inbox i ON i.id = o.inbox_id
    WHERE o.{_WITHIN.replace(" AND ", " AND o.")} AND o.status = {MessageStatus.SENT} AND NOT o.apology
    AND NOT EXISTS (SELECT FROM outbox p WHERE p.inbox_id = o.inbox_id AND NOT p.apology AND p.id < o.id)
    UNION ALL
    SELECT instance_id, finished_at, {_BUCKET.format(end="i")} FROM inbox i
    WHERE {_WITHIN} AND status = {EventStatus.DONE} AND taken
    AND NOT EXISTS (SELECT FROM outbox p WHERE p.inbox_id = i.id)
) c JOIN channel_instance i ON i.id = c.instance_id CROSS JOIN unnest(%(steps)s) AS s(step)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (instance_id, step, at, measure) DO UPDATE SET count = f.count + excluded.count
"""
"""An answer is counted when the platform took its first part, or the call that waits for it did; a message with
several dead parts when the first one was given up. Indexes `inbox_finished`, `outbox_finished`, `outbox_given_up`,
`outbox_by_event` and `outbox_by_send`, and the primary key of `inbox`."""

MOVE = """
UPDATE figure_position SET until = %(until)s, inbox_id = coalesce((
    SELECT max(id) FROM inbox WHERE id > %(inbox)s AND received_at <= %(until)s - interval '1 minute'
), inbox_id)
"""
"""No statement that stores messages takes a minute: what is stored later has a higher id. Primary key."""

UNTIL = "SELECT coalesce((SELECT until FROM figure_position), now())"
READ = """
SELECT at, measure, sum(count)::bigint FROM figure
WHERE step = %(step)s AND at > %(until)s - make_interval(secs => %(length)s) {of} GROUP BY 1, 2
"""
OF_ALL = READ.format(of="")
OF_SOME = READ.format(of="AND instance_id = ANY(%(ids)s)")
"""Index `figure_by_age`, or the primary key."""


class PostgresFigures:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def measures(
        self, period: Period, instance_ids: Sequence[int] | None
    ) -> tuple[datetime, Mapping[datetime, Mapping[int, int]]]:
        until = await self._database.fetch_value(UNTIL)
        parameters = {"step": period.step, "until": until, "length": period.step * period.points}
        if instance_ids is None:
            rows = await self._database.fetch(OF_ALL, parameters)
        else:
            rows = await self._database.fetch(OF_SOME, {**parameters, "ids": Bigints(instance_ids)})
        measures: dict[datetime, dict[int, int]] = {}
        for at, measure, count in rows:
            measures.setdefault(at, {})[measure] = count
        return until, measures

    @retried
    async def count(self) -> None:
        """Counts what happened since the last time, unless another process does just now."""
        async with self._database.transaction() as connection:
            await connection.execute(BEGIN)
            row = await (await connection.execute(LOCK)).fetchone()
            if row is None or row[2] <= row[0]:
                return
            parameters: dict[str, Any] = dict(zip(("since", "inbox", "until"), row, strict=True))
            steps = Bigints(period.step for period in Period)
            await connection.execute(COUNT, {**parameters, "bounds": Doubles(BOUNDS), "steps": steps})
            await connection.execute(MOVE, parameters)
