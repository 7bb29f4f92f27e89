"""The health of instances in PostgreSQL, and its events."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Double,
    Select,
    and_,
    any_,
    bindparam,
    case,
    cast,
    exists,
    func,
    select,
)

from adapters.outbound.storage.arrays import Bigints
from adapters.outbound.storage.codec import dump, storable_reason
from adapters.outbound.storage.events import LISTENED
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import QueueKind, read_statements
from adapters.outbound.storage.schema import columns_of
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
from domain.routing.model import MOST_ROUNDS, WINDOW
from ports.instances import HealthRecord

log = logging.getLogger(__name__)


SQL = read_statements(Path(__file__).with_suffix(".sql"), listened=LISTENED)

REGISTRATION = "registration"
"""The check whether the webhook is registered; the others are the activities."""


SUCCESS_EVERY = 10.0
"""Seconds between two notes of success of one activity, so that a busy instance costs no write per message."""


class PostgresHealth:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[tuple[int, Activity], float] = {}
        self._unproved: dict[int, str | None] = {}

    async def find(self, instance_id: int) -> HealthRecord:
        return (await self.records([instance_id])).get(instance_id, HealthRecord())

    async def records(self, instance_ids: Sequence[int]) -> Mapping[int, HealthRecord]:
        ids = {"ids": Bigints(instance_ids)}
        rows = await self._database.fetch(RECORDS, ids) if instance_ids else []
        activities: dict[int, dict[Activity, ActivityHealth]] = {}
        for id, name, *times in await self._database.fetch(ACTIVITIES, ids) if rows else ():
            activities.setdefault(id, {})[Activity(name)] = ActivityHealth(*times)
        return {
            id: replace(
                HealthRecord(*columns[:-4]),
                registration=orjson.loads(registration or "{}"),
                note=note or "",
                waiting_seconds=columns[-4] or 0.0,
                pending_seconds=columns[-3] or 0.0,
                idle_seconds=columns[-2] or 0.0,
                looping=columns[-1],
                activities=activities.get(id, {}),
            )
            for id, registration, note, *columns in rows
        }

    async def queue(self, instance_id: int) -> Mapping[str, int]:
        return (await self.queues([instance_id]))[instance_id]

    async def queues(self, instance_ids: Sequence[int]) -> Mapping[int, Mapping[str, int]]:
        rows = (
            await self._database.fetch(SQL["count_queued"], {"ids": Bigints(instance_ids)})
            if instance_ids
            else []
        )
        return {id: dict(zip(("waiting", "pending", "dead"), counts, strict=True)) for id, *counts in rows}

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        key, now = (instance_id, activity), time.monotonic()
        if now - self._noted.get(key, -SUCCESS_EVERY) < SUCCESS_EVERY:
            return
        self._noted[key] = now
        await self._note(
            SQL["note_success"], {**_check(instance_id, activity), "activity": activity, "at": at}
        )

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None:
        self._noted.pop((instance_id, activity), None)
        await self._note(SQL["note_failure"], {**_check(instance_id, activity, reason), "activity": activity})

    async def unproved(self, instance_id: int, wanting: str | None) -> None:
        if instance_id in self._unproved and self._unproved[instance_id] == wanting:
            return
        self._unproved[instance_id] = wanting
        await self._set(instance_id, missing_proof_field=wanting)

    async def webhook(
        self, instance_id: int, registered: bool, error: str | None, note: str | None = None
    ) -> None:
        noted = {**_check(instance_id, REGISTRATION, error), "registered": registered, "note": note}
        await self._database.execute(SQL["note_registration"], noted)

    async def tried_in_vain(self) -> Sequence[int]:
        health = instance_health.c
        return await self._database.fetch_column(
            select(health.instance_id).where(health.webhook_error.is_not(None))
        )

    async def registration(self, instance_id: int, kept: Mapping[str, Any]) -> None:
        await self._set(instance_id, registration=dump(kept))

    async def pairing(self, instance_id: int, code: str | None) -> None:
        """Notes the pairing code that waits to be used, or None."""
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
    """The parameters of the macro `log_health`."""
    return {
        "instance": instance_id,
        "checks": [name],
        "reason": None if reason is None else storable_reason(reason),
    }


def _records() -> Select[*tuple[Any, ...]]:
    """The id, the registration, the note, and the columns of `HealthRecord` in its order; behind them for how many
    seconds the oldest message waits to be processed, and to be sent, and an idle conversation is due; and whether one
    loops."""
    instance, breaker = channel_instance.c, send_breaker.c
    health = instance_health.c["missing_proof_field", "webhook_registered", "webhook_error", "pairing_code"]
    state = case(
        (breaker.until > func.now(), "open"), (breaker.until <= func.now(), "half_open"), else_="closed"
    )
    current = and_(breaker.instance_id == instance.id, breaker.opened_at >= instance.updated_at)
    # Indexes `inbox_by_queue` and `outbox_by_instance`, and the primary key of `queue`.
    waiting = _age(inbox.c.received_at).where(inbox.c.instance_id == instance.id, inbox.c.status == 0)
    pending = _age(outbox.c.created_at).where(outbox.c.instance_id == instance.id, outbox.c.status == 0)
    idle = _age(queue.c.due_at).where(queue.c.instance_id == instance.id, queue.c.kind == QueueKind.INBOUND)
    due = idle.where(queue.c.pending > 0, queue.c.due_at < func.now())
    rounds = func.cardinality(queue.c.rounds)
    latest = queue.c.rounds[rounds] > func.now() - timedelta(seconds=WINDOW)
    counted = queue.c.kind.in_((QueueKind.INBOUND, QueueKind.CORRESPONDENT))
    looping = exists().where(queue.c.instance_id == instance.id, counted, rounds > MOST_ROUNDS, latest)
    backlog = (*(seconds.scalar_subquery() for seconds in (waiting, pending, due)), looping)
    tables = channel_instance.outerjoin(instance_health).outerjoin(schedule).outerjoin(send_breaker, current)
    noted = (
        instance.id,
        instance_health.c.registration,
        instance_health.c.note,
        *health,
        schedule.c.next_run_at,
    )
    columns = select(*noted, state, breaker.until, breaker.reason, *backlog)
    return columns.select_from(tables).where(instance.id == _NAMED)


def _age(since: ColumnElement[datetime]) -> Select[Any]:
    """Seconds since the earliest of these times."""
    return select(cast(func.extract("epoch", func.now() - func.min(since)), Double)).correlate(
        channel_instance
    )


_NAMED = any_(bindparam("ids", required=False, type_=ARRAY(BigInteger)))
RECORDS = _records()
ACTIVITIES = select(
    *columns_of(instance_activity, "instance_id activity last_success_at last_error last_error_at")
).where(instance_activity.c.instance_id == _NAMED)
