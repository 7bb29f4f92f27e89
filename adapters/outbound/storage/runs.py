"""Leases of schedules and of connections, and where they go on reading, in PostgreSQL."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import BindParameter, Select, Update, UpdateBase, bindparam, case, func, or_, select, update

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.conversations.earlier import in_own_sessions
from adapters.outbound.storage.failures import by_halves, is_rolled_back, retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import InboxRow, add_arrivals
from adapters.outbound.storage.schedules import FREE, deactivated
from adapters.outbound.storage.tables import channel_instance, link, schedule
from adapters.outbound.storage.unanswered import add_unanswered
from domain.channels.messages import Event
from domain.instances.model import Activity
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

row = schedule.c
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


class PostgresRuns:
    """`ports.instances.ScheduledRuns`. `arrived` is called after a commit that brought events; `removed` with the id
    of an instance that retired itself."""

    def __init__(
        self,
        database: Database,
        worker_id: int,
        arrived: Callable[[], None],
        removed: Callable[[int], None],
        health: HealthStore,
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._arrived = arrived
        self._removed = removed
        self._health = health
        self._unreleased: list[Due] = []
        self._refused: dict[int, float] = {}

    async def lease(self, count: int) -> Sequence[int]:
        while self._unreleased:
            await self.release(self._unreleased.pop())
        try:
            return await self._database.fetch_column(LEASE, {"worker": self._worker_id, "count": count})
        except Exception as error:
            if not is_rolled_back(error):
                raise
        return await self._leased_apart()

    async def _leased_apart(self) -> Sequence[int]:
        """An instance whose row the database refuses to lease keeps no others waiting."""
        due = await self._database.fetch_column(_DUE, {"count": MOST_APART})
        leased: list[int] = []

        async def lease(instance_ids: Sequence[int]) -> None:
            these = _DUE.where(row.instance_id.in_(instance_ids)).limit(len(instance_ids))
            leased.extend(await self._database.fetch_column(_leasing(these, self._worker_id)))

        for instance_id, error in await by_halves(due, lease):
            await self._note_refusal(instance_id, error)
        return leased

    async def _note_refusal(self, instance_id: int, error: Exception) -> None:
        if time.monotonic() - self._refused.get(instance_id, -TOLD_SECONDS) < TOLD_SECONDS:
            return
        self._refused[instance_id] = time.monotonic()
        log.error("a run cannot be leased", exc_info=error, extra={"instance": instance_id})
        await self._health.failed(instance_id, Activity.RECEIVING, f"{UNLEASED}: {INTERNAL}")

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
                await connection.run(deactivated(due.instance_id))
        if retire:
            self._removed(due.instance_id)
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


link_row = link.c


class PostgresConnectionSwitch:
    """`ports.connections.ConnectionSwitch`. `changed` is called with the id of an instance for which that changed."""

    def __init__(self, database: Database, changed: Callable[[int], None]) -> None:
        self._database = database
        self._changed = changed

    async def set_connects(self, instance_id: int, connects: bool) -> None:
        instance = channel_instance.c
        switched = update(channel_instance).where(instance.id == instance_id, instance.connects != connects)
        statement = switched.values(connects=connects).returning(instance.id)
        if await self._database.fetch_value(statement) is not None:
            self._changed(instance_id)


class PostgresCursors:
    """`ports.connections.ConnectionCursors` of the connections that `owner` keeps. `arrived` is called after a commit
    that brought events."""

    def __init__(self, database: Database, owner: int, arrived: Callable[[], None]) -> None:
        self._database = database
        self._owner = owner
        self._arrived = arrived

    async def cursor(self, instance_id: int) -> Mapping[str, object] | None:
        stored = await self._database.fetch_value(select(link_row.cursor).filter_by(instance_id=instance_id))
        cursor: Mapping[str, object] | None = orjson.loads(stored) if stored else None
        return cursor

    @retried
    async def store(
        self, instance_id: int, events: Sequence[Event], cursor: Mapping[str, Any]
    ) -> Sequence[bool | None] | None:
        arrivals = [InboxRow.of(instance_id, event) for event in events]
        ours = update(link).where(link_row.instance_id == instance_id, link_row.owner == self._owner)
        async with self._database.transaction() as connection:
            if (await connection.run(ours.values(cursor=dump(cursor)))).rowcount == 0:
                return None
            fresh = await add_arrivals(connection, arrivals)
        if any(fresh):
            self._arrived()
        return fresh
