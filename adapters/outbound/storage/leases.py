"""Leases on lanes: one statement serves the inbound and the outbound side."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import by_halves, is_rolled_back
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Connection, Database
from domain.instances.model import Activity
from ports.instances import HealthRecorder
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)

INBOUND, OUTBOUND = 0, 1
LEASE_SECONDS = 30
RENEW_SECONDS = 8.0
"""What a renewal may take: the next one comes while the leases still last."""
ROWS_PER_LEASE = 8
"""How many rows of one lane are worked off before others get their turn."""
LOOK_AHEAD = 4
"""How many times more lanes than there is room for are looked at, to find some within everybody's share."""

UNLEASED = "its messages cannot be taken up, as the database refuses that"
REFUSED_SECONDS = 60.0
"""So long no lane is leased of an instance for whose lanes the database refuses that."""
MOST_WAITING = 10_000
WAITING_INSTANCES = f"""
SELECT DISTINCT instance_id FROM (
    SELECT instance_id FROM queue WHERE kind = %s AND pending > 0 AND due_at <= now()
    ORDER BY due_at LIMIT {MOST_WAITING}
) waiting
"""

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

FREE = """
WITH freed AS (
    UPDATE queue SET owner = NULL, due_at = now() WHERE owner = ANY(%s) RETURNING kind, instance_id, session_key
)
UPDATE inbox SET attempts = attempts + 1 FROM (
    SELECT f.instance_id, f.session_key, (
        SELECT min(id) FROM inbox i
        WHERE i.instance_id = f.instance_id AND i.session_key = f.session_key AND i.status = 0
    ) AS first FROM freed f WHERE f.kind = 0
) head WHERE inbox.id = head.first
"""

ASYNC_COMMIT = "set_config('synchronous_commit', 'off', true)"
"""In a statement of its own transaction: the commit does not wait for the disk. What is written is seen by all at
once and survives the death of this process; when the database dies in the next moment it is as if the statement
had never been."""

OFFERED = """
offered AS (
    SELECT * FROM unnest(%(offered_instances)s, %(offered_lanes)s) AS t(instance_id, session_key)
)
"""
"""The lanes for which this process has places."""
NOT_OFFERED: dict[str, object] = {
    "offered_instances": Bigints([]),
    "offered_lanes": Texts([]),
    "owner": None,
}


def enqueue_sql(kind: int, rows: str) -> str:
    """Counts the fresh rows of the CTE `rows` on their lanes; with it stands the CTE `OFFERED`.

    An offered lane that was idle is leased to `owner` in the same stroke (`leased`); `open` is one that somebody
    has to lease. A lane freed after this transaction began is left open, as what its last holder wrote cannot be
    seen here: its `due_at` tells.
    """
    idle = "queue.pending <= 0 AND queue.owner IS NULL"
    lease_end = f"now() + interval '{LEASE_SECONDS} seconds'"
    return f"""
        INSERT INTO queue (kind, instance_id, session_key, pending, owner, due_at)
        SELECT {kind}, r.instance_id, r.session_key, count(*),
            CASE WHEN bool_or(o.session_key IS NOT NULL) THEN %(owner)s::bigint END,
            CASE WHEN bool_or(o.session_key IS NOT NULL) THEN {lease_end} ELSE now() END
        FROM {rows} r LEFT JOIN offered o ON o.instance_id = r.instance_id AND o.session_key = r.session_key
        GROUP BY 2, 3 ORDER BY 2, 3
        ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET
            pending = queue.pending + excluded.pending,
            owner = CASE WHEN {idle} AND queue.due_at <= now() THEN excluded.owner ELSE queue.owner END,
            due_at = CASE WHEN NOT ({idle}) THEN queue.due_at
                WHEN queue.due_at <= now() THEN excluded.due_at ELSE now() END,
            touched_at = now()
        RETURNING instance_id, session_key, owner IS NULL AS open,
            owner = %(owner)s AND due_at = {lease_end} AS leased
    """


def complete_sql(kind: int, rows: str) -> str:
    """Takes the finished rows of the CTE `rows` off their lanes, and gives back those with a `last` one; `more` is
    one that somebody has to lease again. Of the inbound side it keeps too what rounds are counted by: whether a
    person wrote (`person`), and whether anybody else got a reply (`replied`)."""
    inbound = kind == INBOUND
    facts = ", bool_or(person) AS person, bool_or(replied) AS replied" if inbound else ""
    counted = """,
            rounds = CASE WHEN NOT d.person THEN l.rounds END,
            replied_at = CASE WHEN NOT d.person THEN coalesce(l.replied_at, CASE WHEN d.replied THEN now() END) END"""
    return f"""
        UPDATE queue l SET pending = l.pending - d.n, touched_at = now(),
            owner = CASE WHEN d.last AND l.owner = %(owner)s THEN NULL ELSE l.owner END,
            due_at = CASE WHEN d.last AND l.owner = %(owner)s THEN now() ELSE l.due_at END{counted if inbound else ""}
        FROM (
            SELECT instance_id, session_key, count(*) AS n, bool_or(last) AS last{facts}
            FROM {rows} GROUP BY 1, 2 ORDER BY 1, 2
        ) d
        WHERE l.kind = {kind} AND l.instance_id = d.instance_id AND l.session_key = d.session_key
        RETURNING d.last AND l.pending > 0 AS more
    """


@dataclass(frozen=True, slots=True)
class Side:
    """What differs between the two sides of `lease`. `flag`: a condition on the lane `t`, its value the last
    column of each row."""

    kind: int
    table: str
    columns: str
    flag: str = ""

    def statement(self) -> str:
        """First in each row stands whether lanes waited that were not taken; where none was, that is all.

        `pending + 0`: in the comparison with the row that gets locked the index of waiting lanes must not be used.
        The planner, as long as it takes the table for empty, would go through all of it for each of them.
        """
        columns = ", ".join(f"m.{name}" for name in self.columns.split())
        inner = ", ".join(self.columns.split())
        flag = f", {self.flag}" if self.flag else ""
        return f"""
            WITH waiting AS (
                SELECT instance_id, session_key, due_at FROM queue
                WHERE kind = {self.kind} AND pending > 0 AND due_at <= now() AND instance_id <> ALL(%(full)s)
                AND (cardinality(%(full_users)s::text[]) = 0 OR NOT EXISTS (SELECT FROM channel_instance i
                    WHERE i.id = queue.instance_id AND i.user_id = ANY(%(full_users)s)))
                ORDER BY due_at LIMIT %(count)s * {LOOK_AHEAD}
            ), ranked AS (
                SELECT w.*, coalesce(i.user_id, '') AS user_id,
                    row_number() OVER (PARTITION BY w.instance_id ORDER BY w.due_at) AS of_instance,
                    row_number() OVER (PARTITION BY i.user_id ORDER BY w.due_at) AS of_user
                FROM waiting w LEFT JOIN channel_instance i ON i.id = w.instance_id
            ), due AS (
                SELECT l.instance_id, l.session_key, r.user_id FROM ranked r JOIN queue l
                ON l.kind = {self.kind} AND l.instance_id = r.instance_id AND l.session_key = r.session_key
                LEFT JOIN unnest(%(instances)s::bigint[], %(instance_room)s::int[]) AS ir(id, room)
                ON ir.id = r.instance_id
                LEFT JOIN unnest(%(users)s::text[], %(user_room)s::int[]) AS ur(id, room) ON ur.id = r.user_id
                WHERE r.of_instance <= coalesce(ir.room, %(per_instance)s)
                AND r.of_user <= coalesce(ur.room, %(per_user)s) AND l.pending + 0 > 0 AND l.due_at <= now()
                ORDER BY r.due_at LIMIT %(count)s FOR UPDATE OF l SKIP LOCKED
            ), taken AS (
                UPDATE queue l SET owner = %(owner)s, due_at = now() + interval '{LEASE_SECONDS} seconds'
                FROM due WHERE l.kind = {self.kind}
                AND l.instance_id = due.instance_id AND l.session_key = due.session_key
                RETURNING l.instance_id, l.session_key, due.user_id
            )
            SELECT (SELECT count(*) FROM waiting) > (SELECT count(*) FROM taken), found.*, (SELECT {ASYNC_COMMIT})
            FROM (VALUES (1)) AS always LEFT JOIN (
                SELECT t.instance_id, t.session_key, t.user_id, {columns}{flag}
                FROM taken t LEFT JOIN LATERAL (
                    SELECT {inner} FROM {self.table} r
                    WHERE r.instance_id = t.instance_id AND r.session_key = t.session_key AND r.status = 0
                    ORDER BY r.id LIMIT {ROWS_PER_LEASE}
                ) m ON true
            ) found ON true
            ORDER BY found.instance_id, found.session_key, found.id
        """


class LeaseStore:
    """Leases of one process; `owner` is its worker_id, whose advisory lock shows that it lives."""

    def __init__(self, database: Database, owner: int, health: HealthRecorder | None = None) -> None:
        self._database = database
        self.owner = owner
        self._health = health
        self._refused: dict[tuple[int, int], float] = {}

    async def lease(self, side: Side, room: Capacity) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        """Leased lanes with their next rows, the rows' columns as in `side.columns`. An instance for whose lanes the
        database refuses that keeps no others waiting."""
        try:
            return await self._lease(side, room)
        except Exception as error:
            if not is_rolled_back(error):
                raise
        await self._find_refused(side, room)
        return await self._lease(side, room)

    async def _find_refused(self, side: Side, room: Capacity) -> None:
        """Tries in transactions that are rolled back for which instances no lane can be leased."""
        waiting = {id for (id,) in await self._database.fetch(WAITING_INSTANCES, (side.kind,))}

        async def tried(instances: Sequence[int]) -> None:
            parameters = self._parameters(side, room, waiting.difference(instances))
            async with (
                self._database.connection(STATEMENT_SECONDS) as connection,
                connection.transaction(force_rollback=True),
            ):
                await connection.execute(side.statement(), parameters)

        for instance_id, error in await by_halves(sorted(waiting), tried):
            log.error("lanes cannot be leased", exc_info=error, extra={"instance": instance_id})
            if self._health:
                activity = Activity.PROCESSING if side.kind == INBOUND else Activity.SENDING
                await self._health.failed(instance_id, activity, f"{UNLEASED}: {type(error).__name__}")
            self._refused[side.kind, instance_id] = time.monotonic() + REFUSED_SECONDS

    def _parameters(self, side: Side, room: Capacity, without: Collection[int] = ()) -> dict[str, object]:
        now = time.monotonic()
        self._refused = {each: until for each, until in self._refused.items() if until > now}
        refused = [instance_id for kind, instance_id in self._refused if kind == side.kind]
        full = [each for each, left in room.instances.items() if left <= 0]
        return {
            "count": room.total,
            "full": [*full, *refused, *without],
            "full_users": [each for each, left in room.users.items() if left <= 0],
            "instances": list(room.instances),
            "instance_room": list(room.instances.values()),
            "users": list(room.users),
            "user_room": list(room.users.values()),
            "per_instance": room.per_instance,
            "per_user": room.per_user,
            "owner": self.owner,
        }

    async def _lease(self, side: Side, room: Capacity) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        parameters = self._parameters(side, room)
        async with self._database.connection(STATEMENT_SECONDS) as connection:
            cursor = await connection.execute(side.statement(), parameters)
            rows = await cursor.fetchall()
            keys: dict[QueueKey, list[tuple[Any, ...]]] = {}
            for _, instance_id, key, user_id, *columns, _ in rows:
                if instance_id is not None:
                    found = keys.setdefault(QueueKey(instance_id, key, user_id), [])
                    found.extend([tuple(columns)] if columns[0] is not None else [])
            empty = [key for key, found in keys.items() if not found]
            for key in empty:
                await self._settle(connection, side, key)
                del keys[key]
        return Leases(list(keys.items()), more=rows[0][0])

    async def _settle(self, connection: Connection, side: Side, key: QueueKey) -> None:
        """Counts a lane anew that claimed to have rows and has none (its rows were dropped)."""
        await connection.execute(
            f"UPDATE queue SET owner = NULL, due_at = now(), pending = (SELECT count(*) FROM {side.table} r"
            " WHERE r.instance_id = queue.instance_id AND r.session_key = queue.session_key AND r.status = 0)"
            " WHERE kind = %s AND instance_id = %s AND session_key = %s AND owner = %s",
            (side.kind, key.instance_id, key.session_key, self.owner),
        )

    async def release(self, side: Side, key: QueueKey, delay: float) -> None:
        await self._database.execute(
            "UPDATE queue SET owner = NULL, due_at = now() + make_interval(secs => %s)"
            " WHERE kind = %s AND instance_id = %s AND session_key = %s AND owner = %s",
            (delay, side.kind, key.instance_id, key.session_key, self.owner),
        )

    async def renew(self, side: Side, held: Collection[QueueKey]) -> None:
        """Prolongs the leases that this process works on.

        Others that bear its name were left behind by an outage of the database: they run out.
        """

        async def renewed(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(
                f"UPDATE queue SET due_at = now() + interval '{LEASE_SECONDS} seconds'"
                " FROM unnest(%s::bigint[], %s::text[]) AS h(instance_id, session_key)"
                " WHERE queue.kind = %s AND queue.owner = %s"
                " AND queue.instance_id = h.instance_id AND queue.session_key = h.session_key",
                ([key.instance_id for key in keys], [key.session_key for key in keys], side.kind, self.owner),
                within=RENEW_SECONDS,
            )

        _note(await by_halves(list(held), renewed), "a lease cannot be prolonged")

    async def reclaim(self, side: Side, held: Collection[QueueKey]) -> None:
        """Frees the leases in this process's name that it does not work on. Not while it is leasing."""
        left = await self._database.fetch(
            "SELECT instance_id, session_key FROM queue WHERE kind = %s AND owner = %s"
            " AND (instance_id, session_key) NOT IN (SELECT * FROM unnest(%s::bigint[], %s::text[]))",
            (side.kind, self.owner, [key.instance_id for key in held], [key.session_key for key in held]),
        )

        async def freed(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(
                "UPDATE queue SET owner = NULL, due_at = now() FROM unnest(%s::bigint[], %s::text[]) AS h(id, key)"
                " WHERE kind = %s AND owner = %s AND instance_id = h.id AND session_key = h.key",
                ([key.instance_id for key in keys], [key.session_key for key in keys], side.kind, self.owner),
            )

        _note(await by_halves([QueueKey(*each) for each in left], freed), "a lease cannot be given back")

    async def abandoned(self) -> set[int]:
        """Owners of leases whose process holds its lock no more."""
        return {owner for (owner,) in await self._database.fetch(ABANDONED)} - {self.owner}

    async def free(self, owners: Sequence[int]) -> None:
        """Gives back the leases of dead processes; counts the death on the event each was working on."""
        await self._database.execute(FREE, (list(owners),))


def _note(refused: Sequence[tuple[QueueKey, Exception]], what: str) -> None:
    """Such a lease runs out by itself."""
    for key, error in refused:
        log.error(what, exc_info=error, extra={"instance": key.instance_id})
