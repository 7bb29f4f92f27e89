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

-- name: copy_senders
-- Messages stay under the former id: the person has both. Primary key.
INSERT INTO person_sender (
    instance_id, session_key, sender_key, person_id, session_id, sender, name, language, identities, identity_keys,
    user_id, first_at, seen_at
)
SELECT instance_id, %(new)s, CASE WHEN sender_key = %(old)s THEN %(new)s ELSE sender_key END, person_id,
    %(session_id)s, CASE WHEN sender_key = %(old)s THEN %(session_id)s ELSE sender END, name, language, identities,
    identity_keys, user_id, first_at, seen_at
FROM person_sender WHERE instance_id = %(instance)s AND session_key = %(old)s ON CONFLICT DO NOTHING

-- name: lock_form
-- Primary key.
SELECT form FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(old)s FOR UPDATE

-- name: move_conversation
-- A person who has the conversation keeps it; of the rest, what the new session has already stays. `offered` stays with
-- the message that offered the choices. Primary key.
INSERT INTO queue AS q (
    kind, instance_id, session_key, pending, due_at, held_until, handler_minutes, held_by, held_by_until,
    form, assignee, labels, closed_at, snoozed_until, opened_at
)
SELECT kind, instance_id, %(new)s, 0, now(), CASE WHEN held_until > now() THEN held_until END, handler_minutes,
    held_by, held_by_until, %(form)s::text, assignee, labels, closed_at, snoozed_until, opened_at
FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(old)s
    AND (held_until > now() OR num_nonnulls(%(form)s::text, assignee, labels, closed_at, snoozed_until) > 0)
ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET
    held_until = coalesce(excluded.held_until, q.held_until),
    handler_minutes = CASE WHEN excluded.held_until IS NULL THEN q.handler_minutes ELSE excluded.handler_minutes END,
    held_by = CASE WHEN excluded.held_until IS NULL THEN q.held_by ELSE excluded.held_by END,
    held_by_until = CASE WHEN excluded.held_until IS NULL THEN q.held_by_until ELSE excluded.held_by_until END,
    form = coalesce(q.form, excluded.form), assignee = coalesce(q.assignee, excluded.assignee),
    labels = coalesce(q.labels, excluded.labels), opened_at = least(q.opened_at, excluded.opened_at)

-- name: blank_former
-- What has moved is not found under the former name again. Primary key.
UPDATE queue SET form = NULL, assignee = NULL, labels = NULL
WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(old)s
