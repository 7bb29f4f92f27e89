-- The statements of sessions: aliases, renames, and who opted out.

-- name: opt_out
INSERT INTO opt_out (instance_id, session_key) SELECT id, %s FROM channel_instance WHERE id = %s
ON CONFLICT DO NOTHING

-- name: opt_in
DELETE FROM opt_out WHERE session_key = %s AND instance_id = %s

-- name: is_opted_out
-- Primary keys.
SELECT 1 FROM opt_out WHERE session_key = %s AND instance_id = %s

-- name: add_alias
WITH before AS (SELECT session_key FROM session_alias WHERE instance_id = %(instance)s AND alias = %(alias)s)
INSERT INTO session_alias AS s (instance_id, alias, session_key) SELECT id, %(alias)s, %(session)s
FROM channel_instance WHERE id = %(instance)s
ON CONFLICT (instance_id, alias) DO UPDATE SET session_key = excluded.session_key, seen_at = now()
WHERE s.session_key <> excluded.session_key OR s.seen_at < now() - interval '1 day'
RETURNING (SELECT session_key FROM before) IS DISTINCT FROM session_key

-- name: session_of_alias
SELECT session_key FROM session_alias WHERE instance_id = %s AND alias = %s

-- name: move_aliases
-- Index `session_alias_by_session`, and primary keys.
UPDATE session_alias SET session_key = %(new)s WHERE instance_id = %(instance)s AND session_key = %(old)s

-- name: alias_former_session
INSERT INTO session_alias (instance_id, alias, session_key)
SELECT instance_id, %(new)s, session_key FROM session_alias WHERE instance_id = %(instance)s AND alias = %(old)s
ON CONFLICT DO NOTHING

-- name: move_hold
INSERT INTO queue (kind, instance_id, session_key, pending, due_at, held_until, handler_minutes)
SELECT kind, instance_id, %(new)s, 0, now(), held_until, handler_minutes FROM queue
WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(old)s AND held_until > now()
ON CONFLICT (kind, instance_id, session_key) DO UPDATE
SET held_until = excluded.held_until, handler_minutes = excluded.handler_minutes
