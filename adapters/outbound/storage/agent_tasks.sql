-- The statements of tasks that outlive their runs.

-- name: add_task
INSERT INTO agent_task (instance_id, request_id, session_key, session_id, resource, task_id, inbox_id, next_poll_at)
SELECT id, %(request)s, %(session_key)s, %(session_id)s, %(resource)s, %(task)s, %(inbox)s,
    now() + make_interval(secs => {{ first }})
FROM channel_instance WHERE id = %(instance)s
ON CONFLICT (instance_id, request_id) DO UPDATE SET task_id = agent_task.task_id
RETURNING 1

-- name: is_finished
-- Primary key.
SELECT finished_at IS NOT NULL FROM agent_task WHERE instance_id = %(instance)s AND request_id = %(request)s

-- name: hold
-- Primary key.
UPDATE agent_task SET next_poll_at = now() + make_interval(secs => %(seconds)s), polls = polls + 1
WHERE instance_id = %(instance)s AND request_id = %(request)s

-- name: remove
-- Primary key.
DELETE FROM agent_task
WHERE instance_id = %(instance)s AND request_id = %(request)s AND finished_at IS NULL

-- name: lease_due
-- Index `agent_task_due`. No task is postponed by more than `longest`: what lies further ahead was postponed before the
-- clock was put back.
WITH due AS (
    SELECT instance_id, request_id FROM agent_task
    WHERE finished_at IS NULL
        AND (next_poll_at <= now() OR next_poll_at > now() + make_interval(secs => {{ longest }}))
    ORDER BY next_poll_at LIMIT {{ most }} FOR UPDATE SKIP LOCKED
)
UPDATE agent_task t SET next_poll_at = now() + make_interval(secs => {{ lease }}), polls = polls + 1
FROM due d WHERE t.instance_id = d.instance_id AND t.request_id = d.request_id
RETURNING t.instance_id, t.request_id, t.session_id, t.resource, t.task_id, t.inbox_id, t.polls,
    t.created_at < now() - make_interval(hours => {{ hours }})

-- name: renew
-- Primary key.
UPDATE agent_task SET next_poll_at = now() + make_interval(secs => {{ lease }})
WHERE instance_id = %(instance)s AND request_id = %(request)s AND polls = %(polls)s AND finished_at IS NULL
RETURNING true

-- name: postpone
-- Primary key.
UPDATE agent_task SET next_poll_at = now() + make_interval(secs => least(%(seconds)s, {{ longest }} - 1))
WHERE instance_id = %(instance)s AND request_id = %(request)s AND polls = %(polls)s

-- name: finish
-- Primary key.
UPDATE agent_task SET finished_at = now() WHERE instance_id = %(instance)s AND request_id = %(request)s
