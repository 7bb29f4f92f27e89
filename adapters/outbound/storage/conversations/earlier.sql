-- The statements of earlier messages that an event refers to.

-- name: beginnings
-- The first message that came in each session, and the first that was sent in it. Indexes `inbox_by_session` and
-- `send_by_session`.
SELECT t.session_key, i.event, s.content, s.created_at < i.received_at
FROM unnest(%(sessions)s) AS t(session_key)
LEFT JOIN LATERAL (
    SELECT event, received_at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) i ON true
LEFT JOIN LATERAL (
    SELECT content, created_at FROM send
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) s ON true

-- name: sent_by_ref
-- Index `outbox_by_ref`, and the primary keys of `inbox` and `send`.
SELECT i.answer, s.content, s.author FROM outbox o LEFT JOIN inbox i ON i.id = o.inbox_id
LEFT JOIN send s ON s.id = o.send_id
WHERE o.instance_id = %s AND hashtextextended(o.ref, 0) = hashtextextended(%s, 0) AND o.ref IS NOT NULL
    AND o.ref = %s AND (%s::text IS NULL OR o.session_key = %s) LIMIT 1

-- name: received_by_key
-- Index `inbox_event`.
SELECT event FROM inbox WHERE instance_id = %s AND event_key = %s

-- name: is_first
-- Indexes `inbox_by_session` and `send_by_session`.
SELECT NOT EXISTS (SELECT FROM inbox WHERE instance_id = %s AND session_key = %s AND id < %s)
    AND NOT EXISTS (SELECT FROM send WHERE instance_id = %s AND session_key = %s)

-- name: answer_of_event
SELECT answer FROM inbox WHERE id = %(id)s AND instance_id = %(instance)s

-- name: content_of_send
-- Primary keys.
SELECT content FROM send WHERE id = %(id)s AND instance_id = %(instance)s

-- name: message_with_value
-- Indexes `inbox_by_session` and `send_by_session`.
SELECT kind, id FROM (
    (SELECT 'out' AS kind, id, answer AS content, finished_at AS at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = %(session)s ORDER BY id DESC LIMIT 100)
    UNION ALL
    (SELECT 'send', id, content, created_at FROM send
    WHERE instance_id = %(instance)s AND session_key = %(session)s ORDER BY id DESC LIMIT 100)
) message WHERE position(%(value)s IN content) > 0 ORDER BY at DESC LIMIT 1

-- name: was_picked
-- Index `inbox_by_session`, primary key of `send`.
SELECT EXISTS (SELECT FROM (
    SELECT event, status, received_at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = %(session)s AND id > %(answer)s AND id < %(before)s
    ORDER BY id DESC LIMIT 1000
) earlier WHERE status = 1
    AND position(%(choice)s IN event) > 0 AND position(%(sender)s IN event) > 0
    AND received_at >= coalesce(
        (SELECT created_at FROM send WHERE id = %(send)s AND instance_id = %(instance)s), '-infinity'))

-- name: answer_is_followed
SELECT EXISTS (
    SELECT FROM inbox l WHERE l.instance_id = i.instance_id AND l.session_key = i.session_key AND l.id > i.id
    AND l.answer IS NOT NULL AND l.status = 1
) OR EXISTS (
    SELECT FROM send s WHERE s.instance_id = i.instance_id AND s.session_key = i.session_key
    AND s.created_at >= i.finished_at
) FROM inbox i WHERE i.id = %(id)s AND i.instance_id = %(instance)s

-- name: send_is_followed
-- Indexes `inbox_by_session` and `send_by_session`.
SELECT EXISTS (
    SELECT FROM send l WHERE l.instance_id = s.instance_id AND l.session_key = s.session_key AND l.id > s.id
) OR EXISTS (
    SELECT FROM inbox i WHERE i.instance_id = s.instance_id AND i.session_key = s.session_key
    AND i.answer IS NOT NULL AND i.status = 1 AND i.finished_at >= s.created_at
) FROM send s WHERE s.id = %(id)s AND s.instance_id = %(instance)s

{# Primary keys. #}
{% macro forget_offer(table) -%}
UPDATE queue SET offered = NULL WHERE kind = 0 AND offered = %(message)s
    AND instance_id = %(instance)s
    AND session_key = (SELECT session_key FROM {{ table }} WHERE id = %(id)s AND instance_id = %(instance)s)
{%- endmacro %}

-- name: forget_offer_of_answer
{{ forget_offer("inbox") }}

-- name: forget_offer_of_send
{{ forget_offer("send") }}
