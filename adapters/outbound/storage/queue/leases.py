"""The two kinds of queues, whose rows are leased by the same statement.

Leases on the queues of conversations.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import by_halves, is_rolled_back
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Connection, Database
from adapters.outbound.storage.queue.statements import (
    ASYNC_COMMIT,
    LEASE_SECONDS,
    ROWS_PER_LEASE,
    QueueKind,
    queued_sql,
)
from adapters.outbound.storage.statements import compact
from domain.instances.model import Activity
from domain.refusals import INTERNAL
from ports.instances import HealthStore
from ports.queue import Capacity, Leases, QueueKey

LOOK_AHEAD = 4
"""How many times more queues than there is capacity for are read, to find some within everybody's share."""

LEASE = """
WITH candidates AS (
    SELECT kind, instance_id, session_key, due_at FROM queue
    WHERE kind = {kind} AND pending > 0 AND due_at <= now() AND instance_id <> ALL(%(full)s)
    AND (held_until > now()) IS NOT TRUE
    AND (cardinality(%(full_users)s::text[]) = 0 OR NOT EXISTS (SELECT FROM channel_instance i
        WHERE i.id = queue.instance_id AND i.user_id = ANY(%(full_users)s)))
    ORDER BY due_at LIMIT %(count)s * {look_ahead}
), ranked AS (
    SELECT c.*, coalesce(i.user_id, '') AS user_id,
        row_number() OVER (PARTITION BY c.instance_id ORDER BY c.due_at) AS of_instance,
        row_number() OVER (PARTITION BY i.user_id ORDER BY c.due_at) AS of_user
    FROM candidates c LEFT JOIN channel_instance i ON i.id = c.instance_id
), due AS (
    SELECT q.kind, q.instance_id, q.session_key, r.user_id FROM ranked r JOIN queue q
    ON q.kind = r.kind AND q.instance_id = r.instance_id AND q.session_key = r.session_key
    LEFT JOIN unnest(%(instances)s::bigint[], %(instance_capacity)s::int[]) AS ic(id, capacity)
    ON ic.id = r.instance_id
    LEFT JOIN unnest(%(users)s::text[], %(user_capacity)s::int[]) AS uc(id, capacity) ON uc.id = r.user_id
    WHERE r.of_instance <= coalesce(ic.capacity, %(per_instance)s)
    AND r.of_user <= coalesce(uc.capacity, %(per_user)s) AND q.pending + 0 > 0 AND q.due_at <= now()
    ORDER BY r.due_at LIMIT %(count)s FOR UPDATE OF q SKIP LOCKED
), taken AS (
    UPDATE queue q SET owner = %(owner)s, due_at = now() + interval '{seconds} seconds'
    FROM due WHERE q.kind = due.kind AND q.instance_id = due.instance_id AND q.session_key = due.session_key
    RETURNING q.instance_id, q.session_key, due.user_id, q.offered
)
SELECT (SELECT count(*) FROM candidates) > (SELECT count(*) FROM taken), leased.*, (SELECT {async_commit})
FROM (VALUES (1)) AS always LEFT JOIN (
    SELECT t.instance_id, t.session_key, t.user_id, m.*{flag}
    FROM taken t LEFT JOIN LATERAL (
        SELECT {columns} FROM {table} r
        WHERE {of_taken} ORDER BY r.id LIMIT {rows}
    ) m ON true
) leased ON true
ORDER BY leased.instance_id, leased.session_key, leased.id
"""
"""The oldest due queues, with their next rows. First in each row stands whether there were candidates that were not
leased; where none was leased, that is all. Indexes `queue_due`, then the primary key, then `inbox_by_queue` or
`outbox_by_queue`.

`pending + 0` keeps the row that gets locked from being looked up in `queue_due`, and a kind that is no constant keeps
it from being looked for among all of its kind: as long as the planner takes the table for empty, it would do so for
each candidate."""

RECOUNT = """
UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until), pending = (
    SELECT count(*) FROM {table} r WHERE {of_queue}
) WHERE kind = {kind} AND instance_id = %s AND session_key = %s AND owner = %s
"""
"""For a queue that claimed to have rows and has none: they were dropped. Primary key."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One of the two kinds of queues, with the statements that differ."""

    kind: QueueKind
    lease: str
    recount: str

    @classmethod
    def of(cls, kind: QueueKind, table: str, columns: str, flag: str = "") -> Queue:
        """`columns` are read of each row of `table` that waits; `flag`: columns of the queue `t`, after them."""
        rows: dict[str, object] = {
            "kind": kind,
            "table": table,
            "of_taken": queued_sql(kind, "r", "t.instance_id", "t.session_key"),
            "of_queue": queued_sql(kind, "r", "queue.instance_id", "queue.session_key"),
        }
        lease = LEASE.format(
            **rows,
            columns=columns,
            flag=f", {flag}" if flag else "",
            look_ahead=LOOK_AHEAD,
            rows=ROWS_PER_LEASE,
            seconds=LEASE_SECONDS,
            async_commit=ASYNC_COMMIT,
        )
        return cls(kind, compact(lease), RECOUNT.format(**rows))


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

    def __init__(self, database: Database, owner: int, health: HealthStore) -> None:
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
