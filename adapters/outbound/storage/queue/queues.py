"""The two kinds of queues, whose rows are leased by the same statement."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.outbound.storage.queue.states import (
    ASYNC_COMMIT,
    LEASE_SECONDS,
    ROWS_PER_LEASE,
    QueueKind,
    queued_sql,
)
from adapters.outbound.storage.statements import compact

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
