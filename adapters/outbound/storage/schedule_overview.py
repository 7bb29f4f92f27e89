"""The schedules of a user's instances, as lists show them, and runs by hand."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, case, func, select, update

from adapters.outbound.storage.instances import INSTANCE
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import channel_instance, instance_activity, schedule
from domain.instances.model import ACTIVE, Activity, Instance
from domain.polling.model import PlannedInstance

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
