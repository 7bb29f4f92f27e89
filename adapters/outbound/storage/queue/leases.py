"""Leases on the queues of conversations."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from typing import Any

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import by_halves, is_rolled_back
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Connection, Database
from adapters.outbound.storage.queue.queues import Queue
from adapters.outbound.storage.queue.states import LEASE_SECONDS, QueueKind, queued_sql
from domain.instances.model import Activity
from domain.refusals import INTERNAL
from ports.instances import HealthRecorder
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)

RENEW_SECONDS = 8.0
"""What a renewal may take: the next one comes while the leases still last."""

REFUSED = "its messages cannot be leased, as the database refuses that"
REFUSED_SECONDS = 60.0
"""So long nothing is leased of an instance for whose queues the database refuses that."""

QUEUED_INSTANCES = """
SELECT DISTINCT instance_id FROM (
    SELECT instance_id FROM queue WHERE kind = %s AND pending > 0 AND due_at <= now() ORDER BY due_at LIMIT 10000
) due
"""
"""Index `queue_due`."""

RELEASE = """
UPDATE queue SET owner = NULL, due_at = greatest(now() + make_interval(secs => %s), held_until)
WHERE kind = %s AND instance_id = %s AND session_key = %s AND owner = %s
"""
"""Primary key."""

RENEW = f"""
UPDATE queue SET due_at = now() + interval '{LEASE_SECONDS} seconds'
FROM unnest(%s::bigint[], %s::text[]) AS h(instance_id, session_key)
WHERE kind = %s AND owner = %s AND queue.instance_id = h.instance_id AND queue.session_key = h.session_key
"""
"""Primary key."""

LEFT_BEHIND = """
SELECT instance_id, session_key FROM queue WHERE kind = %s AND owner = %s
AND (instance_id, session_key) NOT IN (SELECT * FROM unnest(%s::bigint[], %s::text[]))
"""
"""Index `queue_owned`."""

RECLAIM = """
UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until)
FROM unnest(%s::bigint[], %s::text[]) AS h(id, key)
WHERE kind = %s AND owner = %s AND instance_id = h.id AND session_key = h.key
"""
"""Primary key."""

ABANDONED = """
SELECT l.owner FROM (
    SELECT owner FROM queue WHERE owner IS NOT NULL UNION SELECT owner FROM schedule WHERE owner IS NOT NULL
    UNION SELECT owner FROM link WHERE owner IS NOT NULL
) l
WHERE NOT EXISTS (
    SELECT FROM pg_locks k WHERE k.locktype = 'advisory' AND k.granted
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (k.classid::bigint << 32 | k.objid::bigint) = l.owner)
"""
"""Index `queue_owned`."""

FREE = f"""
WITH freed AS (
    UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until) WHERE owner = ANY(%s)
    RETURNING kind, instance_id, session_key
)
UPDATE inbox SET attempts = attempts + 1 FROM (
    SELECT f.instance_id, f.session_key, (
        SELECT min(id) FROM inbox i
        WHERE {queued_sql(QueueKind.INBOUND, "i", "f.instance_id", "f.session_key")}
    ) AS first FROM freed f WHERE f.kind = {QueueKind.INBOUND}
) head WHERE inbox.id = head.first
"""
"""Indexes `queue_owned` and `inbox_by_queue`."""


class LeaseStore:
    """Leases of one process; `owner` is its worker id, whose advisory lock shows that it lives."""

    def __init__(self, database: Database, owner: int, health: HealthRecorder) -> None:
        self._database = database
        self.owner = owner
        self._health = health
        self._refused: dict[tuple[QueueKind, int], float] = {}

    async def lease(self, queue: Queue, capacity: Capacity) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        """Leased queues with their next rows. An instance for whose queues the database refuses that does not hold
        up others."""
        try:
            return await self._lease(queue, capacity)
        except Exception as error:
            if not is_rolled_back(error):
                raise
        await self._find_refused(queue, capacity)
        return await self._lease(queue, capacity)

    async def _find_refused(self, queue: Queue, capacity: Capacity) -> None:
        """Tries in transactions that are rolled back for which instances nothing can be leased."""
        queued = {id for (id,) in await self._database.fetch(QUEUED_INSTANCES, (queue.kind,))}

        async def try_lease(instances: Sequence[int]) -> None:
            parameters = self._parameters(queue, capacity, queued.difference(instances))
            async with (
                self._database.connection(STATEMENT_SECONDS) as connection,
                connection.transaction(force_rollback=True),
            ):
                await connection.execute(queue.lease, parameters)

        activity = Activity.PROCESSING if queue.kind is QueueKind.INBOUND else Activity.SENDING
        for instance_id, error in await by_halves(sorted(queued), try_lease):
            log.error("queues cannot be leased", exc_info=error, extra={"instance": instance_id})
            await self._health.failed(instance_id, activity, f"{REFUSED}: {INTERNAL}")
            self._refused[queue.kind, instance_id] = time.monotonic() + REFUSED_SECONDS

    def _parameters(
        self, queue: Queue, capacity: Capacity, without: Collection[int] = ()
    ) -> dict[str, object]:
        """The arrays are packed, so that their types are the same whatever they hold: for each combination of types
        a statement is prepared and planned anew."""
        now = time.monotonic()
        self._refused = {row: until for row, until in self._refused.items() if until > now}
        refused = [instance_id for kind, instance_id in self._refused if kind is queue.kind]
        full = [instance_id for instance_id, left in capacity.instances.items() if left <= 0]
        return {
            "count": capacity.total,
            "full": Bigints([*full, *refused, *without]),
            "full_users": Texts(user_id for user_id, left in capacity.users.items() if left <= 0),
            "instances": Bigints(capacity.instances),
            "instance_capacity": Bigints(capacity.instances.values()),
            "users": Texts(capacity.users),
            "user_capacity": Bigints(capacity.users.values()),
            "per_instance": capacity.per_instance,
            "per_user": capacity.per_user,
            "owner": self.owner,
        }

    async def _lease(
        self, queue: Queue, capacity: Capacity
    ) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        parameters = self._parameters(queue, capacity)
        async with self._database.connection(STATEMENT_SECONDS) as connection:
            cursor = await connection.execute(queue.lease, parameters)
            rows = await cursor.fetchall()
            leased: dict[QueueKey, list[tuple[Any, ...]]] = {}
            for _, instance_id, session_key, user_id, *columns, _ in rows:
                if instance_id is not None:
                    of_key = leased.setdefault(QueueKey(instance_id, session_key, user_id), [])
                    of_key.extend([tuple(columns)] if columns[0] is not None else [])
            for key in [key for key, of_key in leased.items() if not of_key]:
                await self._recount(connection, queue, key)
                del leased[key]
        return Leases(list(leased.items()), more=rows[0][0])

    async def _recount(self, connection: Connection, queue: Queue, key: QueueKey) -> None:
        await connection.execute(queue.recount, (key.instance_id, key.session_key, self.owner))

    async def release(self, queue: Queue, key: QueueKey, delay: float) -> None:
        await self._database.execute(
            RELEASE, (delay, queue.kind, key.instance_id, key.session_key, self.owner)
        )

    async def renew(self, queue: Queue, held: Collection[QueueKey]) -> None:
        """Prolongs the leases that this process works on. Others of its own were left behind by an outage of the
        database: they expire."""

        async def renew(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(
                RENEW, (*_columns(keys), queue.kind, self.owner), within=RENEW_SECONDS
            )

        _log_refused(await by_halves(list(held), renew), "a lease cannot be prolonged")

    async def reclaim(self, queue: Queue, held: Collection[QueueKey]) -> None:
        """Frees the leases of this process that it does not work on. Not while it is leasing."""
        left_behind = await self._database.fetch(LEFT_BEHIND, (queue.kind, self.owner, *_columns(held)))

        async def free(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(RECLAIM, (*_columns(keys), queue.kind, self.owner))

        _log_refused(
            await by_halves([QueueKey(*row) for row in left_behind], free), "a lease cannot be freed"
        )

    async def abandoned(self) -> set[int]:
        """Owners of leases whose process holds its lock no more."""
        return {owner for (owner,) in await self._database.fetch(ABANDONED)} - {self.owner}

    async def free(self, owners: Sequence[int]) -> None:
        """Frees the leases of dead processes; counts the death on the event each was working on."""
        await self._database.execute(FREE, (list(owners),))


def _columns(keys: Collection[QueueKey]) -> tuple[list[int], list[str]]:
    return [key.instance_id for key in keys], [key.session_key for key in keys]


def _log_refused(refused: Sequence[tuple[QueueKey, Exception]], what: str) -> None:
    """Such a lease expires by itself."""
    for key, error in refused:
        log.error(what, exc_info=error, extra={"instance": key.instance_id})
