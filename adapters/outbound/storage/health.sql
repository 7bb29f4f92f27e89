-- The statements of the health of instances. Column `status` of `inbox`: 0 queued; of `outbox`: 0 pending, 2 dead.

{# The CTEs that record whether a note on some checks of an instance changes its health. Primary keys.

   `failing`: a condition, whether the noted checks fail from now on. Parameters: `instance`; `checks`, the names of the
   noted checks; `reason`, why they fail. The first of several checks that fails makes the instance unhealthy, the last
   one that works again makes it healthy. #}
{% macro log_health(failing) -%}
checks AS (
    SELECT a.activity AS name, a.last_error_at > greatest(a.last_success_at, i.updated_at) AS failing
    FROM channel_instance i JOIN instance_activity a ON a.instance_id = i.id WHERE i.id = %(instance)s
    UNION ALL
    SELECT 'registration', webhook_error IS NOT NULL AND webhook_registered IS FALSE
    FROM instance_health WHERE instance_id = %(instance)s
), change AS (
    SELECT coalesce(bool_or(failing), false) AS before, ({{ failing }})
        OR coalesce(bool_or(failing) FILTER (WHERE name <> ALL(%(checks)s::text[])), false) AS after FROM checks
), logged AS (
    INSERT INTO event_log (kind, instance_id, data)
    SELECT 'instance.health', i.id, json_build_object('healthy', NOT c.after,
        'activity', (%(checks)s::text[])[1], 'error', CASE WHEN c.after THEN %(reason)s::text END)::text
    FROM change c, channel_instance i WHERE i.id = %(instance)s AND c.before <> c.after AND {{ listened }}
), noted AS (
    INSERT INTO notification_cause (kind, instance_id, data)
    SELECT CASE WHEN c.after THEN 'unhealthy' ELSE 'healthy' END, i.id, CASE WHEN c.after THEN
        json_build_object('activity', (%(checks)s::text[])[1], 'error', %(reason)s::text)::text END
    FROM change c, channel_instance i WHERE i.id = %(instance)s AND i.status = 'active' AND c.before <> c.after
)
{%- endmacro %}

-- name: log_saved
-- For an instance that is saved: what failed before that does not count.
WITH {{ log_health("false") }} SELECT

{% set still_failing -%}
EXISTS (SELECT FROM instance_activity WHERE instance_id = %(instance)s AND activity = %(activity)s
    AND last_error_at > greatest(last_success_at, coalesce(%(at)s, now()),
        (SELECT updated_at FROM channel_instance WHERE id = %(instance)s)))
{%- endset %}

-- name: note_success
WITH {{ log_health(still_failing) }}
INSERT INTO instance_activity AS a (instance_id, activity, last_success_at)
SELECT id, %(activity)s, coalesce(%(at)s, now()) FROM channel_instance
WHERE id = %(instance)s AND set_config('synchronous_commit', 'off', true) IS NOT NULL FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_success_at = greatest(a.last_success_at, excluded.last_success_at)

-- name: note_failure
WITH {{ log_health("true") }}
INSERT INTO instance_activity (instance_id, activity, last_error, last_error_at)
SELECT id, %(activity)s, %(reason)s, now() FROM channel_instance WHERE id = %(instance)s FOR KEY SHARE
ON CONFLICT (instance_id, activity) DO UPDATE
SET last_error = excluded.last_error, last_error_at = excluded.last_error_at

-- name: count_queued
-- Indexes `inbox_by_queue`, `outbox_by_instance` and `outbox_dead`.
SELECT i.id, (SELECT count(*) FROM inbox WHERE instance_id = i.id AND status = 0),
    (SELECT count(*) FROM outbox WHERE instance_id = i.id AND status = 0),
    (SELECT count(*) FROM outbox WHERE instance_id = i.id AND status = 2)
FROM unnest(%(ids)s) AS i(id)

-- name: note_registration
WITH {{ log_health("%(reason)s::text IS NOT NULL AND NOT %(registered)s") }}
INSERT INTO instance_health (instance_id, webhook_registered, webhook_error, note)
SELECT id, %(registered)s, %(reason)s, %(note)s FROM channel_instance WHERE id = %(instance)s FOR KEY SHARE
ON CONFLICT (instance_id) DO UPDATE
SET webhook_registered = excluded.webhook_registered, webhook_error = excluded.webhook_error, note = excluded.note
