"""Schedules in PostgreSQL: when each instance that is polled, or runs by the clock, runs next, and who runs it."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import (
    BindParameter,
    Select,
    Text,
    Update,
    UpdateBase,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    update,
)

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.conversations.earlier import in_own_sessions
from adapters.outbound.storage.failures import by_halves, is_rolled_back, retried
from adapters.outbound.storage.instances import INSTANCE, PostgresInstances, retiring
from adapters.outbound.storage.permissions import visible_to
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import InboxRow, add_arrivals
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import channel_instance, instance_activity, schedule
from adapters.outbound.storage.unanswered import add_unanswered
from domain.channels.messages import Event
from domain.instances.model import ACTIVE, Activity
from domain.polling.model import PlannedInstance
from domain.refusals import INTERNAL, Unavailable
from ports.instances import Due, HealthStore

log = logging.getLogger(__name__)

QUEUED_SECONDS = 60
"""How long a leased instance may wait in the job queue; after that it is enqueued once more, as a queue may have been
emptied. Two jobs are one run: a run begins once."""
MOST_APART = 1000
"""So many due instances are looked at where the database refuses to lease one of them."""
UNLEASED = "its polls or firings cannot be begun, as the database refuses that"
TOLD_SECONDS = 300.0
"""How often the log and the health tell of an instance that cannot be leased."""
RUN_SECONDS = 330
"""How long a run may take; a runner that hangs loses its instance after that, a dead one at once."""
LONGEST_LEASE = timedelta(seconds=2 * RUN_SECONDS)
"""A lease that lasts longer was taken before the database's clock was put back."""

instance, row, activity = channel_instance.c, schedule.c, instance_activity.c

FREE: dict[str, Any] = {"owner": None, "lease_until": None, "began_at": None, "again": False}
"""The columns of a schedule that nobody runs."""
_DUE = (
    select(row.instance_id)
    .where(
        row.next_run_at <= func.now(),
        or_(row.lease_until.is_(None), ~row.lease_until.between(func.now(), func.now() + LONGEST_LEASE)),
    )
    .order_by(row.next_run_at)
    .limit(bindparam("count"))
)
_BEGIN = (
    update(schedule)
    .where(
        row.instance_id == bindparam("id"),
        row.owner.is_not(None),
        row.began_at.is_(None),
        row.lease_until > func.now(),
        row.next_run_at.is_not(None),
    )
    .values(
        owner=bindparam("worker"),
        began_at=func.clock_timestamp(),
        lease_until=func.now() + timedelta(seconds=RUN_SECONDS),
    )
    .returning(row.next_run_at, row.cursor, row.failures, row.began_at)
)


def _leasing(due: Select[int], worker_id: int | BindParameter[int]) -> UpdateBase:
    locked = due.with_for_update(skip_locked=True).subquery()
    leased = update(schedule).where(row.instance_id == locked.c.instance_id).returning(row.instance_id)
    until = func.now() + timedelta(seconds=QUEUED_SECONDS)
    return leased.values(owner=worker_id, lease_until=until, began_at=None)


LEASE = _leasing(_DUE, bindparam("worker"))
_FREE = update(schedule).values(
    **FREE,
    next_run_at=case((row.again, func.least(row.next_run_at, func.now())), else_=row.next_run_at),
)
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
_OF_USER = _ALL.where(visible_to(bindparam("user", type_=Text)))
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


class PostgresSchedules:
    """`ports.instances.ScheduleStore` of the process `worker_id`. `arrived` is called after a commit that brought
    events."""

    def __init__(
        self,
        database: Database,
        worker_id: int,
        instances: PostgresInstances,
        health: HealthStore,
        arrived: Callable[[], None],
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._instances = instances
        self._health = health
        self._arrived = arrived
        self._unreleased: list[Due] = []
        self._refused: dict[int, float] = {}

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

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[PlannedInstance]:
        parameters: dict[str, Any] = {"after": after, "limit": limit}
        if user_id is None:
            rows = await self._database.fetch(_ALL, parameters)
        else:
            rows = await self._database.fetch(_OF_USER, {**parameters, "user": user_id})
        width = len(INSTANCE)
        return [PlannedInstance(self._instances.read(*row[:width]), *row[width:]) for row in rows]

    async def run_now(self, instance_id: int) -> bool:
        return await self._database.fetch_value(_RUN_NOW, {"id": instance_id}) is not None

    async def lease(self, count: int) -> Sequence[int]:
        while self._unreleased:
            await self.release(self._unreleased.pop())
        try:
            return await self._database.fetch_column(LEASE, {"worker": self._worker_id, "count": count})
        except Exception as error:
            if not is_rolled_back(error):
                raise
        # An instance whose row the database refuses to lease keeps no others waiting.
        due = await self._database.fetch_column(_DUE, {"count": MOST_APART})
        leased: list[int] = []

        async def lease(instance_ids: Sequence[int]) -> None:
            these = _DUE.where(row.instance_id.in_(instance_ids)).limit(len(instance_ids))
            leased.extend(await self._database.fetch_column(_leasing(these, self._worker_id)))

        for instance_id, refusal in await by_halves(due, lease):
            if time.monotonic() - self._refused.get(instance_id, -TOLD_SECONDS) >= TOLD_SECONDS:
                self._refused[instance_id] = time.monotonic()
                log.error("a run cannot be leased", exc_info=refusal, extra={"instance": instance_id})
                await self._health.failed(instance_id, Activity.RECEIVING, f"{UNLEASED}: {INTERNAL}")
        return leased

    async def begin(self, instance_id: int) -> Due | None:
        begun = await self._database.fetch_one(_BEGIN, {"worker": self._worker_id, "id": instance_id})
        if begun is None:
            return None
        planned, cursor, failures, began = begun
        return Due(instance_id, planned, orjson.loads(cursor) if cursor else None, failures, began)

    @retried
    async def finish(
        self,
        due: Due,
        events: Sequence[Event],
        cursor: Mapping[str, Any] | None,
        at: datetime | None,
        *,
        retire: bool = False,
        unanswered: Sequence[Event] = (),
    ) -> Sequence[bool | None] | None:
        stored = row.cursor if cursor is None else dump(cursor)
        ours = self._of_run(update(schedule), due)
        async with self._database.transaction() as connection:
            done = {"cursor": stored, "next_run_at": at, "failures": 0}
            finished = await connection.run(ours.values(**done, **({"again": False} if retire else {})))
            if finished.rowcount == 0:
                return None
            own = await in_own_sessions(connection, due.instance_id, events)
            fresh = await add_arrivals(connection, [InboxRow.of(due.instance_id, event) for event in own])
            await add_unanswered(connection, due.instance_id, unanswered)
            if retire:
                await connection.run(retiring(due.instance_id))
        if retire:
            self._instances.announce(due.instance_id)
        if any(fresh):
            self._arrived()
        return fresh

    async def failed(self, due: Due, at: datetime | None) -> None:
        ours = self._of_run(update(schedule), due)
        failed = ours.values(failures=row.failures + 1, next_run_at=at, again=False)
        await self._database.execute(failed)

    async def release(self, due: Due) -> None:
        try:
            await self._database.execute(self._of_run(_FREE, due))
        except Unavailable:
            self._unreleased.append(due)
            raise

    def _of_run(self, statement: Update, due: Due) -> Update:
        return statement.filter_by(instance_id=due.instance_id, owner=self._worker_id, began_at=due.began)

    async def give_back(self, instance_ids: Sequence[int]) -> None:
        waiting = _FREE.filter_by(owner=self._worker_id, began_at=None)
        await self._database.execute(waiting.where(row.instance_id.in_(instance_ids)))

    async def free(self, worker_ids: Sequence[int]) -> None:
        """Takes back what dead processes were running."""
        await self._database.execute(_FREE.where(row.owner.in_(worker_ids)))


TOLERANCE = 5.0
"""Seconds that a clock may be corrected by without notice."""

NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"

BRING_FORWARD = f"""
UPDATE queue SET due_at = due_at - (touched_at - now()), touched_at = now()
WHERE pending > 0 AND owner IS NULL AND due_at > now() AND touched_at > now() + interval '{TOLERANCE} seconds'
"""
"""Queues that were changed in what is the future now: rows that come later leave `touched_at` there, as they leave
`due_at`. Index `queue_due`."""


class DatabaseClock:
    """Compares the database's clock with the steady one of this process. `poll_all` polls every instance."""

    def __init__(
        self,
        database: Database,
        poll_all: Callable[[], Awaitable[None]],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._poll_all = poll_all
        self._steady = steady
        self._ahead: float | None = None

    async def look(self) -> None:
        """Takes care of what waits for a time that is further away now. The clock may also have gone ahead and back
        since the last look: only the queues show that."""
        ahead = float(await self._database.fetch_value(NOW)) - self._steady()
        change = 0.0 if self._ahead is None else ahead - self._ahead
        self._ahead = ahead
        if abs(change) >= TOLERANCE:
            log.warning("the database's clock was changed by %.0f seconds", change)
        if await self._database.execute(BRING_FORWARD) or change <= -TOLERANCE:
            await self._poll_all()
