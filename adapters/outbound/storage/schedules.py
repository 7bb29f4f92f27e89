"""Schedules in PostgreSQL: when each instance that is polled, or fires by the clock, runs next."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Update, case, delete, exists, func, select, update

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import QueueKind
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import channel_instance, queue, schedule
from domain.instances.model import ACTIVE

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
