-- The statements of lists of messages. Column `status` of `inbox`: 0 queued, 1 done, 2 failed;
-- of `outbox`: 0 pending, 1 sent, 2 dead. Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent.
-- Streams: 0 events, 1 answers, 2 what was sent first, 3 notes.

{% set of_session = "instance_id = %(instance)s AND session_key = %(session)s" %}

{# A LATERAL query of what became of the outbound messages of one message: whether any is dead (`dead`) or on its way
   (`pending`), how far all of them came (`reached`), and why the first dead one was given up (`error`). #}
{% macro delivery(condition) -%}
LATERAL (
        SELECT coalesce(bool_or(status = 2), false) AS dead,
            coalesce(bool_or(status = 0), false) AS pending,
            greatest(min(coalesce(delivery_state, 0)), 0) AS reached,
            (array_agg(last_error ORDER BY id) FILTER (WHERE status = 2))[1] AS error
        FROM outbox WHERE {{ condition }}
    )
{%- endmacro %}

{# Indexes `inbox_by_session`, `send_by_session` and `conversation_note_by_session`. #}
{% macro page(after, order) -%}
SELECT * FROM (
    SELECT 0 AS stream, 'in' AS kind, id AS position, id, session_key, received_at AS at, event,
        NULL::text AS content, NULL::text AS author, status, error, false, false, 0, NULL::text
    FROM inbox WHERE {{ of_session }} AND id {{ after }} %(inbound)s ORDER BY id {{ order }} LIMIT %(count)s
) i UNION ALL
SELECT 1, 'out', i.id, i.id, session_key, finished_at, event, answer, NULL, i.status, NULL, o.*
FROM (
    SELECT * FROM inbox WHERE {{ of_session }} AND answer IS NOT NULL AND id {{ after }} %(answers)s
    ORDER BY id {{ order }} LIMIT %(count)s
) i CROSS JOIN {{ delivery(of_answer) }} o UNION ALL
SELECT 2, 'send', s.id, s.id, session_id, created_at, NULL, content, author, 0, NULL, o.*
FROM (
    SELECT * FROM send WHERE {{ of_session }} AND id {{ after }} %(sends)s ORDER BY id {{ order }} LIMIT %(count)s
) s CROSS JOIN {{ delivery(of_send) }} o UNION ALL
SELECT * FROM (
    SELECT 3, 'note', id, id, %(session_id)s::text, created_at, NULL,
        json_build_object('user', user_id, 'text', text, 'mentions', mentions)::text, NULL, 0, NULL,
        false, false, 0, NULL
    FROM conversation_note WHERE {{ of_session }} AND id {{ after }} %(notes)s ORDER BY id {{ order }} LIMIT %(count)s
) n
{%- endmacro %}

-- name: messages_after
{{ page(">", "") }}

-- name: messages_before
{{ page("<", "DESC") }}

-- name: files_of_events
-- Index `message_file_by_event`.
SELECT DISTINCT ON (inbox_id, blob_key) inbox_id, name, mime_type, size, blob_key FROM message_file
WHERE inbox_id = ANY(%s) AND inbound ORDER BY inbox_id, blob_key, id

-- name: stored_blobs
-- Index `message_file_by_blob`.
SELECT DISTINCT blob_key FROM message_file WHERE blob_key = ANY(%s)

-- name: is_known
-- Primary key.
SELECT 1 FROM queue WHERE kind = 0 AND {{ of_session }}

-- name: failed_messages
-- Of several instances. A message with several dead parts stands where the last one does. Indexes `inbox_failed`,
-- `outbox_dead`, `outbox_by_event` and `outbox_by_send`, and the primary keys of `inbox` and `send`.
SELECT * FROM (
    SELECT 0, 'in', i.id, i.id, session_key, received_at, event, NULL::text, NULL::text, status, error,
        false, false, 0, NULL::text, n.id
    FROM unnest(%(instances)s) AS n(id) CROSS JOIN LATERAL (
        SELECT * FROM inbox WHERE instance_id = n.id AND status = 2 AND event <> '{}'
        AND id < %(inbound)s ORDER BY id DESC LIMIT %(count)s
    ) i ORDER BY i.id DESC LIMIT %(count)s
) i UNION ALL SELECT * FROM (
    SELECT 1, CASE WHEN o.send_id IS NULL THEN 'out' ELSE 'send' END, o.id,
        coalesce(o.send_id, o.inbox_id), coalesce(s.session_id, o.session_key), coalesce(o.finished_at, o.created_at),
        nullif(i.event, '{}'), coalesce(i.answer, s.content), s.author, 0, NULL, true, false, 0, o.last_error,
        o.instance_id
    FROM unnest(%(instances)s) AS n(id) CROSS JOIN LATERAL (
        SELECT * FROM outbox d WHERE instance_id = n.id AND status = 2 AND id < %(answers)s
        AND (inbox_id IS NOT NULL OR send_id IS NOT NULL) AND NOT EXISTS (
            SELECT FROM outbox l WHERE l.inbox_id = d.inbox_id AND l.status = 2 AND l.id > d.id
        ) AND NOT EXISTS (
            SELECT FROM outbox l WHERE l.send_id = d.send_id AND l.status = 2 AND l.id > d.id
        ) ORDER BY id DESC LIMIT %(count)s
    ) o LEFT JOIN inbox i ON i.id = o.inbox_id LEFT JOIN send s ON s.id = o.send_id
    ORDER BY o.id DESC LIMIT %(count)s
) o

-- name: received_message
-- One that was erased is not found. Primary key.
SELECT event, status, error, received_at FROM inbox WHERE id = %s AND instance_id = %s AND event <> '{}'

-- name: answered_message
-- Primary key, and index `outbox_by_event`.
SELECT i.event, i.answer, i.finished_at, o.dead, o.pending, o.reached, o.error
FROM inbox i CROSS JOIN {{ delivery(of_answer) }} o
WHERE i.id = %s AND i.instance_id = %s AND i.answer IS NOT NULL

-- name: sent_message
-- Primary key, and index `outbox_by_send`.
SELECT s.session_id, s.content, s.author, s.created_at, o.dead, o.pending, o.reached, o.error
FROM send s CROSS JOIN {{ delivery(of_send) }} o WHERE s.id = %s AND s.instance_id = %s

-- name: message_to_rerun
-- Primary key.
SELECT event, status FROM inbox WHERE id = %s AND instance_id = %s AND event <> '{}' FOR UPDATE
