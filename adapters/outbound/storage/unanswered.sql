-- The statements of messages that are not answered.

-- name: add_unanswered
-- Without those that were released. Indexes `inbox_event` and `unanswered_event`.
INSERT INTO unanswered (instance_id, session_key, event_key, reason, event)
SELECT c.id, t.session_key, t.event_key, t.reason, t.event
FROM unnest(%(sessions)s, %(keys)s, %(reasons)s, %(events)s) AS t(session_key, event_key, reason, event)
JOIN channel_instance c ON c.id = %(instance)s
WHERE NOT EXISTS (SELECT FROM inbox i WHERE i.instance_id = %(instance)s AND i.event_key = t.event_key)
ON CONFLICT DO NOTHING RETURNING event_key

-- name: keep_newest_unanswered
DELETE FROM unanswered WHERE instance_id = %(instance)s AND id <= (
    SELECT id FROM unanswered WHERE instance_id = %(instance)s ORDER BY id DESC OFFSET {{ most }} LIMIT 1
)

-- name: count_unanswered
SELECT reason, count(*) FROM unanswered WHERE instance_id = %s GROUP BY reason ORDER BY reason

-- name: list_unanswered
SELECT id, reason, event, received_at FROM unanswered WHERE instance_id = %s ORDER BY id DESC LIMIT %s OFFSET %s

-- name: take_unanswered
-- Index `unanswered_by_instance`, and the primary key.
DELETE FROM unanswered WHERE id = %s AND instance_id = %s RETURNING event
