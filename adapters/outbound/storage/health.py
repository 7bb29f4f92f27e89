"""What is on record of each instance's health, in PostgreSQL."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump, storable_reason
from adapters.outbound.storage.leases import ASYNC_COMMIT, INBOUND
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.rounds import CORRESPONDENT
from domain.instances.model import Activity, ActivityHealth
from domain.refusals import Unavailable
from domain.routing.rounds import MOST_ROUNDS, WINDOW
from ports.storage import HealthRecord

log = logging.getLogger(__name__)

SUCCESS_EVERY = 10.0
"""Seconds between two notes of success of one activity, so that a busy instance costs no write per message."""

SUCCEEDED = f"""
INSERT INTO instance_activity AS a (instance_id, activity, last_success_at)
SELECT id, %s, coalesce(%s, now()) FROM channel_instance WHERE id = %s AND {ASYNC_COMMIT} IS NOT NULL FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_success_at = greatest(a.last_success_at, excluded.last_success_at)
"""

FAILED = """
INSERT INTO instance_activity (instance_id, activity, last_error, last_error_at)
SELECT id, %s, %s, now() FROM channel_instance WHERE id = %s FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_error = excluded.last_error, last_error_at = excluded.last_error_at
"""

SET = (
    "INSERT INTO instance_health (instance_id, {names}) SELECT id, {values} FROM channel_instance WHERE id = %s"
    " ON CONFLICT (instance_id) DO UPDATE SET {updates}"
)

QUEUE = """
SELECT (SELECT count(*) FROM inbox WHERE instance_id = %(id)s AND status = 0),
       (SELECT count(*) FROM outbox WHERE instance_id = %(id)s AND status = 0),
       (SELECT count(*) FROM outbox WHERE instance_id = %(id)s AND status = 2)
"""


BACKLOG = """
SELECT coalesce(extract(epoch FROM now() - (
        SELECT min(received_at) FROM inbox WHERE instance_id = %(id)s AND status = 0
    )), 0)::float8,
    coalesce(extract(epoch FROM now() - (
        SELECT min(due_at) FROM lane WHERE kind = 0 AND instance_id = %(id)s AND pending > 0 AND due_at < now()
    )), 0)::float8,
    EXISTS (
        SELECT FROM lane WHERE kind = ANY(%(counted)s) AND instance_id = %(id)s AND cardinality(rounds) > %(most)s
        AND rounds[cardinality(rounds)] > now() - make_interval(secs => %(window)s)
    )
"""


class PostgresHealth:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[tuple[int, Activity], float] = {}
        self._unproved: dict[int, str | None] = {}

    async def find(self, instance_id: int) -> HealthRecord:
        row = await self._database.fetch_one(
            "SELECT registration, missing_proof_field, webhook_registered,"
            " webhook_error, pairing_code, next_run_at, CASE WHEN b.until > now() THEN 'open'"
            " WHEN b.until <= now() THEN 'half_open' ELSE 'closed' END, b.until, b.reason"
            " FROM channel_instance i LEFT JOIN instance_health h ON h.instance_id = i.id"
            " LEFT JOIN schedule s ON s.instance_id = i.id"
            " LEFT JOIN send_breaker b ON b.instance_id = i.id AND b.opened_at >= i.updated_at WHERE i.id = %s",
            (instance_id,),
        )
        if row is None:
            return HealthRecord()
        rows = await self._database.fetch(
            "SELECT activity, last_success_at, last_error, last_error_at FROM instance_activity"
            " WHERE instance_id = %s",
            (instance_id,),
        )
        backlog = await self._database.fetch_one(
            BACKLOG,
            {
                "id": instance_id,
                "counted": [INBOUND, CORRESPONDENT],
                "most": MOST_ROUNDS,
                "window": WINDOW,
            },
        )
        assert backlog is not None
        activities = {Activity(name): ActivityHealth(*noted) for name, *noted in rows}
        return replace(
            HealthRecord(*row[1:]),
            registration=orjson.loads(row[0] or "{}"),
            waiting_seconds=backlog[0],
            idle_seconds=backlog[1],
            looping=backlog[2],
            activities=activities,
        )

    async def queue(self, instance_id: int) -> dict[str, int]:
        row = await self._database.fetch_one(QUEUE, {"id": instance_id})
        assert row is not None
        return dict(zip(("waiting", "pending", "dead"), row, strict=True))

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        key, now = (instance_id, activity), time.monotonic()
        if now - self._noted.get(key, -SUCCESS_EVERY) < SUCCESS_EVERY:
            return
        self._noted[key] = now
        await self._note(SUCCEEDED, activity, at, instance_id)

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None:
        self._noted.pop((instance_id, activity), None)
        await self._note(FAILED, activity, storable_reason(reason), instance_id)

    async def unproved(self, instance_id: int, wanting: str | None) -> None:
        if instance_id in self._unproved and self._unproved[instance_id] == wanting:
            return
        self._unproved[instance_id] = wanting
        await self._set(instance_id, missing_proof_field=wanting)

    async def webhook(self, instance_id: int, registered: bool, error: str | None) -> None:
        await self._set(
            instance_id,
            webhook_registered=registered,
            webhook_error=storable_reason(error) if error else error,
        )

    async def tried_in_vain(self) -> Sequence[int]:
        rows = await self._database.fetch(
            "SELECT instance_id FROM instance_health WHERE webhook_error IS NOT NULL"
        )
        return [row[0] for row in rows]

    async def registration(self, instance_id: int, kept: Mapping[str, Any]) -> None:
        await self._set(instance_id, registration=dump(kept))

    async def pairing(self, instance_id: int, code: str | None) -> None:
        """Notes the pairing code that waits to be used, None when there is none."""
        await self._set(instance_id, pairing_code=code)

    async def _note(self, query: str, *parameters: object) -> None:
        """A note on work that was done: whatever the database says, it must not make it be done again."""
        try:
            await self._database.execute(query, parameters)
        except Unavailable:
            log.debug("the health of an instance was not noted, the database is away")
        except Exception:
            log.exception("the health of an instance was not noted")

    async def _set(self, instance_id: int, **values: object) -> None:
        query = SET.format(
            names=", ".join(values),
            values=", ".join("%s" for _ in values),
            updates=", ".join(f"{name} = excluded.{name}" for name in values),
        )
        await self._database.execute(query, (*values.values(), instance_id))
