"""Schedules in PostgreSQL: when each instance that is polled, or runs by the clock, runs next."""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Update, and_, bindparam, case, delete, exists, func, select, update

from adapters.outbound.storage.instances import INSTANCE
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import QueueKind
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import channel_instance, instance_activity, queue, schedule
from domain.instances.model import ACTIVE, Activity, Instance
from domain.polling.model import PlannedInstance

instance, row = channel_instance.c, schedule.c

FREE: dict[str, Any] = {"owner": None, "lease_until": None, "began_at": None, "again": False}
"""The columns of a schedule that nobody runs."""


RETIRED = "retired"
"""The status of an instance that is removed once its messages are answered."""


def deactivated(instance_id: int) -> Update:
    return update(channel_instance).where(instance.id == instance_id).values(status=RETIRED)


class PostgresSchedules:
    """`ports.instances.ScheduleStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        planned = {"next_run_at": at, "failures": 0, **FREE}
        await self._database.execute(upsert_of_instance(schedule, instance_id, planned))

    async def due_now(self, instance_id: int) -> None:
        running = row.owner.is_not(None)
        planned = update(schedule).where(row.instance_id == instance_id, row.next_run_at.is_not(None))
        next_run_at = case((running, row.next_run_at), else_=func.now())
        await self._database.execute(planned.values(again=running, next_run_at=next_run_at))

    async def run_soon(self, channel_ids: Sequence[str], count: int) -> None:
        waiting = (
            select(row.instance_id)
            .join(channel_instance)
            .where(
                instance.channel_id.in_(channel_ids),
                instance.status == ACTIVE,
                row.next_run_at > func.now(),
                row.owner.is_(None),
                row.failures == 0,
            )
        )
        first = waiting.order_by(row.next_run_at).limit(count)
        locked = first.with_for_update(of=schedule, skip_locked=True).subquery()
        soon = update(schedule).where(row.instance_id == locked.c.instance_id)
        await self._database.execute(soon.values(next_run_at=func.now()))

    async def missing(self, channel_ids: Sequence[str]) -> Sequence[int]:
        active = select(instance.id).where(instance.channel_id.in_(channel_ids), instance.status == ACTIVE)
        planned = exists().where(row.instance_id == instance.id)
        return await self._database.fetch_column(active.where(~planned).order_by(instance.id))


class PostgresDeactivation:
    """`ports.instances.Deactivation`; `removed` is called with the id of an instance that was retired or removed."""

    def __init__(self, database: Database, removed: Callable[[int], None]) -> None:
        self._database = database
        self._removed = removed

    async def retire(self, instance_id: int) -> None:
        await self._database.execute(deactivated(instance_id))
        self._removed(instance_id)

    async def remove_retired(self) -> Sequence[int]:
        """Removes retired instances whose messages are answered; their ids."""
        waiting = exists().where(
            queue.c.kind.in_((QueueKind.INBOUND, QueueKind.OUTBOUND)),
            queue.c.instance_id == instance.id,
            queue.c.pending > 0,
        )
        retired = delete(channel_instance).where(instance.status == RETIRED, ~waiting)
        removed = await self._database.fetch_column(retired.returning(instance.id))
        for instance_id in removed:
            self._removed(instance_id)
        return removed


activity = instance_activity.c

_RECEIVING = and_(activity.instance_id == instance.id, activity.activity == Activity.RECEIVING)
_ALL = (
    select(
        *INSTANCE,
        row.next_run_at,
        row.began_at.is_not(None).label("is_running"),
        row.failures,
        activity.last_success_at,
        activity.last_error,
        activity.last_error_at,
    )
    .select_from(channel_instance)
    .join(schedule, row.instance_id == instance.id)
    .outerjoin(instance_activity, _RECEIVING)
    .where(instance.status == ACTIVE, instance.id > bindparam("after"))
    .order_by(instance.id)
    .limit(bindparam("limit"))
)
"""Primary keys."""
_OF_USER = _ALL.where(instance.user_id == bindparam("user"))
"""Index `channel_instance_by_user`."""
_RUN_NOW = (
    update(schedule)
    .where(row.instance_id == bindparam("id"))
    .values(
        again=case((row.began_at.is_not(None), True), else_=row.again),
        next_run_at=case((row.owner.is_not(None), row.next_run_at), else_=func.now()),
    )
    .returning(row.instance_id)
)
"""What is leased and has not begun runs after this anyway; a run under way may have begun with an older state."""


class PostgresScheduleOverview:
    """`ports.instances.ScheduleOverview`. `read` makes an instance of its columns."""

    def __init__(self, database: Database, read: Callable[..., Instance]) -> None:
        self._database = database
        self._read = read

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[PlannedInstance]:
        parameters: dict[str, Any] = {"after": after, "limit": limit}
        if user_id is None:
            rows = await self._database.fetch(_ALL, parameters)
        else:
            rows = await self._database.fetch(_OF_USER, {**parameters, "user": user_id})
        width = len(INSTANCE)
        return [PlannedInstance(self._read(*row[:width]), *row[width:]) for row in rows]

    async def run_now(self, instance_id: int) -> bool:
        return await self._database.fetch_value(_RUN_NOW, {"id": instance_id}) is not None


log = logging.getLogger(__name__)

TOLERANCE = 5.0
"""Seconds that a clock may be corrected by without notice."""

NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"

BRING_FORWARD = f"""
UPDATE queue SET due_at = due_at - (touched_at - now()), touched_at = now()
WHERE pending > 0 AND owner IS NULL AND due_at > now() AND touched_at > now() + interval '{TOLERANCE} seconds'
"""
"""Queues that were changed in what is the future now: rows that come later leave `touched_at` there, as they leave
`due_at`. Index `queue_due`."""


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
