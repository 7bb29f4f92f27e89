"""Who has a conversation: the resource, or a person until `queue.held_until`.

`queue.held_by` names that person while `held_by_until` is the same time. Where a resource asked for a person since,
nobody is named.
"""

from adapters.outbound.storage.events import NO_REF, log_event_sql
from adapters.outbound.storage.queue.statements import EventStatus, QueueKind
from domain.conversations.history import HANDLER_MINUTES
from domain.events import EventKind

_PERSON = "json_build_object('handler', 'person', 'minutes', %(minutes)s::int)::text"
_RESOURCE = "json_build_object('handler', 'resource')::text"
_BY_PERSON = "json_build_object('messageId', 'send-' || %(id)s, 'author', 'person')::text"

HOLD = f"""
WITH held AS (
    UPDATE queue SET held_until = now() + make_interval(mins => %(minutes)s), handler_minutes = %(minutes)s,
        held_by = %(user)s, held_by_until = now() + make_interval(mins => %(minutes)s),
        due_at = CASE WHEN owner IS NULL THEN now() + make_interval(mins => %(minutes)s) ELSE due_at END
    WHERE kind = {QueueKind.INBOUND} AND instance_id = %(instance)s AND session_key = %(session)s
    RETURNING instance_id, session_key
), logged AS ({log_event_sql(EventKind.CONVERSATION_HANDLER, "held", ref=NO_REF, data=_PERSON)})
SELECT FROM held
"""
"""A message that is being worked on is finished: its lease goes on. Primary key."""

HAND_BACK = f"""
WITH held AS (
    SELECT instance_id, session_key FROM queue
    WHERE kind = {QueueKind.INBOUND} AND instance_id = %(instance)s AND session_key = %(session)s
    AND held_until > now()
), logged AS ({log_event_sql(EventKind.CONVERSATION_HANDLER, "held", ref=NO_REF, data=_RESOURCE)})
UPDATE queue SET held_until = NULL, handler_minutes = NULL, held_by = NULL, held_by_until = NULL,
    due_at = CASE WHEN owner IS NULL AND held_until > now() THEN now() ELSE due_at END
WHERE kind = {QueueKind.INBOUND} AND instance_id = %(instance)s AND session_key = %(session)s
"""
"""Primary key."""

_HAD = "queue.held_until > now()"
_IS_HELD = f"({_HAD} OR %(taken_by)s::text IS NOT NULL) AND (SELECT author = 'person' FROM fresh)"
_MINUTES = f"CASE WHEN {_HAD} THEN queue.handler_minutes ELSE {HANDLER_MINUTES} END"
_END = f"now() + make_interval(mins => {_MINUTES})"
_NAMED = f"{_HAD} AND queue.held_by_until = queue.held_until"
TAKEN_UNTIL = (
    f"CASE WHEN %(taken_by)s::text IS NOT NULL THEN now() + make_interval(mins => {HANDLER_MINUTES}) END"
)
"""Of a conversation that has no row yet."""

ANSWERED_BY_PERSON = f"""
answered AS (
    UPDATE inbox i SET status = {EventStatus.DONE}, finished_at = now() FROM (
        SELECT queue.*, (
            SELECT h.id FROM inbox h
            WHERE (h.instance_id, h.session_key || '', h.status) = (queue.instance_id, queue.session_key, 0)
                AND hashtextextended(h.session_key, 0) = hashtextextended(queue.session_key, 0)
            AND queue.owner IS NOT NULL AND queue.due_at > now() ORDER BY h.id LIMIT 1
        ) AS under_way FROM queue
        WHERE queue.kind = {QueueKind.INBOUND} AND queue.instance_id = %(instance_id)s
        AND queue.session_key = %(session_key)s AND {_IS_HELD}
    ) q
    WHERE (i.instance_id, i.session_key || '', i.status) = (q.instance_id, q.session_key, 0)
    AND hashtextextended(i.session_key, 0) = hashtextextended(q.session_key, 0)
    AND i.id IS DISTINCT FROM q.under_way RETURNING i.id, i.instance_id, i.session_key
), told AS ({log_event_sql(EventKind.MESSAGE_ANSWERED, "answered", data=_BY_PERSON)})
"""
"""CTEs for the statement that stores the message %(id)s, the CTE `fresh`: if a person wrote it who has
the conversation or takes it over with it, its queued events count as answered by them, but for one that is being
worked on.
Index `inbox_by_queue`, and the primary key of `queue`."""

HELD_ON = f"""
    pending = queue.pending - (SELECT count(*) FROM answered),
    held_until = CASE WHEN {_IS_HELD} THEN {_END} ELSE queue.held_until END,
    handler_minutes = CASE WHEN {_IS_HELD} THEN {_MINUTES} ELSE queue.handler_minutes END,
    held_by = CASE WHEN {_IS_HELD} AND NOT COALESCE({_NAMED}, false) THEN %(taken_by)s ELSE queue.held_by END,
    held_by_until = CASE WHEN {_IS_HELD} AND (COALESCE({_NAMED}, false) OR %(taken_by)s::text IS NOT NULL) THEN {_END}
        ELSE queue.held_by_until END,
    due_at = CASE WHEN {_IS_HELD} AND queue.owner IS NULL THEN {_END} ELSE queue.due_at END
"""
"""What the same statement sets on the row of the conversation: the time of the person begins anew. Whoever has it
stays named; if nobody is named, it is the user who takes it over."""

_ON = "json_build_object('handler', 'person', 'minutes', handler_minutes)::text"
HELD_ON_TOLD = f"""
held_on AS ({
    log_event_sql(
        EventKind.CONVERSATION_HANDLER,
        "conversation",
        ref=NO_REF,
        data=_ON,
        condition="is_held AND (SELECT author = 'person' FROM fresh)",
    )
})
"""
"""The CTE that tells of it; the one that sets it is `conversation`."""
