"""States of the rows of the queue, and what its statements share."""

from enum import IntEnum


class QueueKind(IntEnum):
    """Column `kind` of `queue`. Rows of a correspondent count rounds over all conversations with it, and are never
    leased."""

    INBOUND = 0
    OUTBOUND = 1
    CORRESPONDENT = 2


class EventStatus(IntEnum):
    """Column `status` of `inbox`."""

    QUEUED = 0
    DONE = 1
    FAILED = 2


class MessageStatus(IntEnum):
    """Column `status` of `outbox`."""

    PENDING = 0
    SENT = 1
    DEAD = 2


LEASE_SECONDS = 30
ROWS_PER_LEASE = 8
"""Rows of one queue that are worked off before others get their turn."""

ASYNC_COMMIT = "set_config('synchronous_commit', 'off', true)"
"""In a statement of its own transaction: the commit does not wait for the disk. The rows are visible at once and
survive the death of this process; when the database dies in the next moment the statement never happened."""

HAS_OPEN_APPROVAL = """
EXISTS (SELECT FROM tool_confirmation c
    WHERE c.instance_id = t.instance_id AND c.session_key = t.session_key AND c.closed_at IS NULL)
OR EXISTS (SELECT FROM tool_approval a WHERE a.instance_id = t.instance_id AND a.session_key = t.session_key)
"""
"""Whether the conversation `t` has anything on record here; part of the statement that leases it."""


def queued_sql(kind: QueueKind, row: str, instance: str, session: str) -> str:
    """The condition for the rows `row` of `inbox` or `outbox` that wait in the queue of these two expressions.
    Index `inbox_by_queue` or `outbox_by_queue`.

    Adding nothing to columns (`|| ''`, `+ 0`) keeps other indexes from it: those would find what is done in a
    conversation too, or what waits for a whole instance, and the planner takes them for cheaper as soon as the small
    index has room left from busier times.
    """
    inbound = kind is QueueKind.INBOUND
    zero, seed, seed_of_queue = ("", "0", "0") if inbound else (" + 0", f"{row}.instance_id", instance)
    return (
        f"({row}.instance_id{zero}, {row}.session_key || '', {row}.status{zero}) = ({instance}, {session}, 0)"
        f" AND hashtextextended({row}.session_key, {seed}) = hashtextextended({session}, {seed_of_queue})"
    )


def enqueue_sql(kind: QueueKind, rows: str) -> str:
    """Counts the new rows of the CTE `rows` on their queues; `open`: somebody has to lease the queue. Primary key of
    `queue`. A conversation that a person has is left alone."""
    inbound = kind is QueueKind.INBOUND
    return f"""
        INSERT INTO queue AS q (kind, instance_id, session_key, pending, due_at)
        SELECT {kind}, instance_id, session_key, count(*), now() FROM {rows} GROUP BY 2, 3 ORDER BY 2, 3
        ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET
            pending = q.pending + excluded.pending,
            due_at = CASE WHEN q.pending > 0 OR q.owner IS NOT NULL{" OR q.held_until > now()" if inbound else ""}
                THEN q.due_at ELSE now() END,
            touched_at = now()
        RETURNING instance_id, session_key,
            owner IS NULL{" AND (held_until > now()) IS NOT TRUE" if inbound else ""} AS open
    """


HELD = "greatest(q.held_until, d.held)"
EVENTS = """, bool_or(person) AS person, bool_or(replied) AS replied, max(minutes) AS minutes,
    now() + max(minutes) * interval '1 min' AS held"""
PROCESSED = f""",
    held_until = {HELD}, handler_minutes = coalesce(d.minutes, q.handler_minutes),
    rounds = CASE WHEN NOT d.person THEN q.rounds END,
    replied_at = CASE WHEN NOT d.person THEN coalesce(q.replied_at, CASE WHEN d.replied THEN now() END) END"""


def complete_sql(kind: QueueKind, rows: str) -> str:
    """Takes the finished rows of the CTE `rows` off their queues, and releases those with a `last` one; `more`: the
    queue has to be leased again. Primary key of `queue`.

    Of events it keeps what rounds are counted by: a person wrote (`person`), anybody else got a reply (`replied`).
    A conversation that a person has is released with any event, until the time is over; `minutes`: from now on a
    person has it for so long.

    The kind is a column of `d`, as with a constant the planner would read all queues of that kind as long as it takes
    the table for small: after each start with an empty database, for a minute.
    """
    inbound = kind is QueueKind.INBOUND
    released = f"q.owner = %(owner)s AND (d.last{f' OR {HELD} > now()' if inbound else ''})"
    due = "greatest(now(), q.held_until, d.held)" if inbound else "now()"
    return f"""
        UPDATE queue q SET pending = q.pending - d.n, touched_at = now(),
            owner = CASE WHEN {released} THEN NULL ELSE q.owner END,
            due_at = CASE WHEN {released} THEN {due} ELSE q.due_at END{PROCESSED if inbound else ""}
        FROM (
            SELECT instance_id, session_key, {kind} kind, count(*) AS n,
                bool_or(last) AS last{EVENTS if inbound else ""}
            FROM {rows} GROUP BY 1, 2 ORDER BY 1, 2
        ) d
        WHERE (q.kind, q.instance_id, q.session_key) = (d.kind, d.instance_id, d.session_key)
        RETURNING d.last AND q.pending > 0 AS more{", d.*, q.held_until > now() AS is_held" if inbound else ""}
    """
