-- The statements of subscriptions to events. Column `status` of `inbox`: 0 queued, 1 done, 2 failed;
-- of `outbox`: 0 pending, 1 sent, 2 dead. Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent.

-- name: count_subscriptions
-- Index `channel_instance_by_user`. The lock keeps one user from adding two at a time.
SELECT pg_advisory_xact_lock(%s, hashtext(%s)), (
    SELECT count(*) FROM channel_instance WHERE user_id = %s AND status = 'subscription'
)

-- name: push_state
-- Versions before this one put all events on their way at once. Indexes `channel_instance_subscriptions` and
-- `outbox_by_instance`, and the primary keys of `event_position` and `push_cursor`.
SELECT coalesce((SELECT position FROM event_position WHERE reader = 'subscriptions'), 0),
    (SELECT json_agg(json_build_array(instance_id, session_key, position)) FROM push_cursor),
    (SELECT json_agg(w) FROM (
        SELECT json_build_array(o.instance_id, o.session_key, count(*)) AS w
        FROM channel_instance i CROSS JOIN LATERAL (
            SELECT instance_id, session_key FROM outbox
            WHERE instance_id = i.id AND status = 0 ORDER BY id LIMIT {{ most_waiting }}
        ) o
        WHERE i.status = 'subscription' AND (%(all)s OR i.id IN (SELECT instance_id FROM push_cursor))
        GROUP BY o.instance_id, o.session_key
    ) w)

-- name: keep_cursors
-- Only subscriptions that are behind have cursors: a few rows each.
WITH kept AS (
    SELECT c.* FROM unnest((SELECT %(instances)s), %(sessions)s, %(positions)s) AS c(instance_id, session_key, position)
    JOIN channel_instance i ON i.id = c.instance_id
), dropped AS (
    DELETE FROM push_cursor p WHERE NOT EXISTS (
        SELECT FROM kept k WHERE (k.instance_id, k.session_key) = (p.instance_id, p.session_key)
    )
)
INSERT INTO push_cursor (instance_id, session_key, position) SELECT * FROM kept
ON CONFLICT (instance_id, session_key) DO UPDATE SET position = excluded.position
WHERE push_cursor.position <> excluded.position

-- name: list_pushes
-- Indexes `outbox_by_instance`, `event_log_published`. The reference of a push taken is its HTTP status.
SELECT o.id, o.message, o.status, o.attempts, o.last_error, o.created_at, o.next_attempt_at, e.kind, o.ref
FROM unnest(%(statuses)s::smallint[]) AS s(status) CROSS JOIN LATERAL (
    SELECT * FROM outbox WHERE instance_id = %(subscription)s AND status = s.status AND id < %(before)s
    ORDER BY id DESC LIMIT %(limit)s
) o LEFT JOIN event_log e ON e.id = (o.message::json ->> 'event')::bigint ORDER BY o.id DESC LIMIT %(limit)s

-- name: failing_subscriptions
-- Indexes `channel_instance_subscriptions` and `outbox_by_instance`.
SELECT i.id FROM channel_instance i
LEFT JOIN instance_activity a ON a.instance_id = i.id AND a.activity = 'sending'
WHERE i.status = 'subscription'
    AND coalesce(a.last_success_at, '-infinity') < now() - interval '{{ failing_days }} days'
    AND EXISTS (
        SELECT FROM outbox o WHERE o.instance_id = i.id
        AND o.status IN (0, 2)
        AND o.created_at < now() - interval '{{ failing_days }} days'
        AND o.created_at > coalesce(a.last_success_at, '-infinity')
    )
