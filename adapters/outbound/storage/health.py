"""What is on record of each instance's health, in PostgreSQL."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import Select, and_, case, exists, func, select

from adapters.outbound.storage.codec import dump, storable_reason
from adapters.outbound.storage.events.health import REGISTRATION, log_health_sql
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import ASYNC_COMMIT, QueueKind
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import (
    channel_instance,
    inbox,
    instance_activity,
    instance_health,
    outbox,
    queue,
    schedule,
    send_breaker,
)
from domain.instances.model import Activity, ActivityHealth
from domain.refusals import Unavailable
from domain.routing.rounds import MOST_ROUNDS, WINDOW
from ports.instances import HealthRecord

log = logging.getLogger(__name__)

_STILL_FAILING = """
EXISTS (SELECT FROM instance_activity WHERE instance_id = %(instance)s AND activity = %(activity)s
    AND last_error_at > greatest(last_success_at, coalesce(%(at)s, now()),
        (SELECT updated_at FROM channel_instance WHERE id = %(instance)s)))
"""

SUCCESS_EVERY = 10.0
"""Seconds between two notes of success of one activity, so that a busy instance costs no write per message."""

SUCCEEDED = f"""
WITH {log_health_sql(_STILL_FAILING)}
INSERT INTO instance_activity AS a (instance_id, activity, last_success_at)
SELECT id, %(activity)s, coalesce(%(at)s, now()) FROM channel_instance
WHERE id = %(instance)s AND {ASYNC_COMMIT} IS NOT NULL FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_success_at = greatest(a.last_success_at, excluded.last_success_at)
"""


FAILED = f"""
WITH {log_health_sql("true")}
INSERT INTO instance_activity (instance_id, activity, last_error, last_error_at)
SELECT id, %(activity)s, %(reason)s, now() FROM channel_instance WHERE id = %(instance)s FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_error = excluded.last_error, last_error_at = excluded.last_error_at
"""

REGISTERED = f"""
WITH {log_health_sql("%(reason)s::text IS NOT NULL AND NOT %(registered)s")}
INSERT INTO instance_health (instance_id, webhook_registered, webhook_error)
SELECT id, %(registered)s, %(reason)s FROM channel_instance WHERE id = %(instance)s FOR KEY SHARE
ON CONFLICT (instance_id) DO UPDATE
SET webhook_registered = excluded.webhook_registered, webhook_error = excluded.webhook_error
"""


class PostgresHealth:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[tuple[int, Activity], float] = {}
        self._unproved: dict[int, str | None] = {}

    async def find(self, instance_id: int) -> HealthRecord:
        row = await self._database.fetch_one(_record(instance_id))
        if row is None:
            return HealthRecord()
        [(now, waiting_since, due_since, looping)] = await self._database.fetch(_backlog(instance_id))
        return replace(
            HealthRecord(*row[1:]),
            registration=orjson.loads(row[0] or "{}"),
            waiting_seconds=(now - waiting_since).total_seconds() if waiting_since else 0.0,
            idle_seconds=(now - due_since).total_seconds() if due_since else 0.0,
            looping=looping,
            activities=await self._activities(instance_id),
        )

    async def _activities(self, instance_id: int) -> Mapping[Activity, ActivityHealth]:
        columns = instance_activity.c["activity", "last_success_at", "last_error", "last_error_at"]
        rows = await self._database.fetch(select(*columns).filter_by(instance_id=instance_id))
        return {Activity(name): ActivityHealth(*noted) for name, *noted in rows}

    async def queue(self, instance_id: int) -> dict[str, int]:
        counted = {"waiting": (inbox, 0), "pending": (outbox, 0), "dead": (outbox, 2)}
        counts = [
            select(func.count()).select_from(table).filter_by(instance_id=instance_id, status=status)
            for table, status in counted.values()
        ]
        [row] = await self._database.fetch(select(*[count.scalar_subquery() for count in counts]))
        return dict(zip(counted, row, strict=True))

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        key, now = (instance_id, activity), time.monotonic()
        if now - self._noted.get(key, -SUCCESS_EVERY) < SUCCESS_EVERY:
            return
        self._noted[key] = now
        await self._note(SUCCEEDED, {**_check(instance_id, activity), "activity": activity, "at": at})

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None:
        self._noted.pop((instance_id, activity), None)
        await self._note(FAILED, {**_check(instance_id, activity, reason), "activity": activity})

    async def unproved(self, instance_id: int, wanting: str | None) -> None:
        if instance_id in self._unproved and self._unproved[instance_id] == wanting:
            return
        self._unproved[instance_id] = wanting
        await self._set(instance_id, missing_proof_field=wanting)

    async def webhook(self, instance_id: int, registered: bool, error: str | None) -> None:
        noted = {**_check(instance_id, REGISTRATION, error), "registered": registered}
        await self._database.execute(REGISTERED, noted)

    async def tried_in_vain(self) -> Sequence[int]:
        health = instance_health.c
        return await self._database.fetch_column(
            select(health.instance_id).where(health.webhook_error.is_not(None))
        )

    async def registration(self, instance_id: int, kept: Mapping[str, Any]) -> None:
        await self._set(instance_id, registration=dump(kept))

    async def pairing(self, instance_id: int, code: str | None) -> None:
        """Notes the pairing code that waits to be used, None when there is none."""
        await self._set(instance_id, pairing_code=code)

    async def _note(self, query: str, parameters: Mapping[str, object]) -> None:
        """A note on work that was done: whatever the database says, it must not make it be done again."""
        try:
            await self._database.execute(query, parameters)
        except Unavailable:
            log.debug("the health of an instance was not noted, the database is away")
        except Exception:
            log.exception("the health of an instance was not noted")

    async def _set(self, instance_id: int, **values: object) -> None:
        await self._database.execute(upsert_of_instance(instance_health, instance_id, values))


def _check(instance_id: int, name: str, reason: str | None = None) -> dict[str, object]:
    """The parameters of `log_health_sql`."""
    return {
        "instance": instance_id,
        "checks": [name],
        "reason": None if reason is None else storable_reason(reason),
    }


def _record(instance_id: int) -> Select[*tuple[Any, ...]]:
    """The columns of `HealthRecord` in its order, behind those of the registration."""
    instance, breaker = channel_instance.c, send_breaker.c
    health = instance_health.c[
        "registration", "missing_proof_field", "webhook_registered", "webhook_error", "pairing_code"
    ]
    state = case(
        (breaker.until > func.now(), "open"), (breaker.until <= func.now(), "half_open"), else_="closed"
    )
    current = and_(breaker.instance_id == instance.id, breaker.opened_at >= instance.updated_at)
    tables = channel_instance.outerjoin(instance_health).outerjoin(schedule).outerjoin(send_breaker, current)
    columns = select(*health, schedule.c.next_run_at, state, breaker.until, breaker.reason)
    return columns.select_from(tables).where(instance.id == instance_id)


def _backlog(instance_id: int) -> Select[*tuple[Any, ...]]:
    """The time, since when the oldest message waits and an idle conversation is due, and whether one loops."""
    waiting = select(func.min(inbox.c.received_at)).filter_by(instance_id=instance_id, status=0)
    idle = select(func.min(queue.c.due_at)).filter_by(instance_id=instance_id, kind=QueueKind.INBOUND)
    due = idle.where(queue.c.pending > 0, queue.c.due_at < func.now())
    rounds = func.cardinality(queue.c.rounds)
    latest = queue.c.rounds[rounds] > func.now() - timedelta(seconds=WINDOW)
    counted = queue.c.kind.in_((QueueKind.INBOUND, QueueKind.CORRESPONDENT))
    looping = exists().where(queue.c.instance_id == instance_id, counted, rounds > MOST_ROUNDS, latest)
    return select(func.now(), waiting.scalar_subquery(), due.scalar_subquery(), looping)
