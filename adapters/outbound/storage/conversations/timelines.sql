-- The statements of what happened to messages. Column `status` of `inbox`: 0 queued, 1 done, 2 failed;
-- of `outbox`: 0 pending, 1 sent, 2 dead. Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent.

-- name: events_of_timeline
-- A stored answer begins with its provenance, where it has one, and ends with its author. Primary key.
SELECT id, status, failures, error, received_at, finished_at, answer IS NOT NULL,
    answer LIKE '%%"author":"resource"}',
    CASE WHEN answer LIKE '{"provenance":%%' THEN left(answer, {{ beginning }}) END, change
FROM inbox WHERE id = ANY(%s) AND instance_id = %s AND event <> '{}'

-- name: questions_of_timeline
-- Index `tool_confirmation_by_event`.
SELECT asked_by, detail, decision, decider, decided_at, closed_at, expires_at
FROM tool_confirmation WHERE asked_by = ANY(%s) AND instance_id = %s ORDER BY expires_at

-- name: approvals_of_timeline
-- Index `approval_request_of_run`.
SELECT inbox_id, detail, approver, decision, decided_by, reason, asked_at, decided_at
FROM approval_request WHERE inbox_id = ANY(%s) AND instance_id = %s ORDER BY id

{% set part = 'o.id, o.status, o.attempts, o.last_error, o.next_attempt_at, o.finished_at, o.delivery_state, o.ref' %}

-- name: parts_of_timeline
-- Indexes `outbox_by_event` and `outbox_by_send`, and primary keys.
SELECT 'out', i.id, i.finished_at, {{ part }} FROM inbox i LEFT JOIN outbox o ON {{ of_answer }}
WHERE i.id = ANY(%(answers)s) AND i.instance_id = %(instance)s AND i.answer IS NOT NULL
UNION ALL
SELECT 'send', s.id, s.created_at, {{ part }} FROM send s LEFT JOIN outbox o ON {{ of_send }}
WHERE s.id = ANY(%(sends)s) AND s.instance_id = %(instance)s ORDER BY 1, 2, 4
