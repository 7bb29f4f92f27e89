-- The statements that erase conversations. Column `status` of `inbox`: 0 queued, 1 done; of `outbox`: 0 pending, 1 sent,
-- 2 dead. Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent.

{% set of_session = "instance_id = %(instance)s AND session_key = %(session)s" %}

-- name: is_erased
-- Waits for an erasure that is under way, and keeps one off until the transaction is over. Primary key.
SELECT event = '{}' FROM inbox WHERE id = %s FOR SHARE

-- name: senders
-- The ids of all who wrote, as JSON texts: an event begins with session and sender. Index `inbox_by_session`.
SELECT DISTINCT substring(event FROM '^\{"session":"(?:[^"\\]|\\.)*","sender":("(?:[^"\\]|\\.)*")')
FROM inbox WHERE {{ of_session }}

-- name: correspondents
-- Whom replies went to, as JSON texts. No text has these quotes. Index `inbox_by_session`.
SELECT DISTINCT substring(event FROM '"correspondent":("(?:[^"\\]|\\.)*")') FROM inbox WHERE {{ of_session }}

-- name: delete_exports
-- The files of exports that hold the conversation. Indexes `privacy_request_by_person`, and primary keys.
WITH held AS (
    SELECT r.id, r.blob_key FROM privacy_request r WHERE blob_key IS NOT NULL
    AND person_id IN (SELECT person_id FROM person_sender WHERE {{ of_session }}) FOR UPDATE
), gone AS (
    UPDATE privacy_request r SET blob_key = NULL, expires_at = now() FROM held h WHERE r.id = h.id
), counted AS (
    SELECT blob_key, count(*) AS count FROM held GROUP BY 1
)
UPDATE blob b SET reference_count = greatest(0, b.reference_count - c.count) FROM counted c WHERE b.key = c.blob_key
RETURNING b.key

-- name: restart_exports
-- Those that may hold the conversation already begin anew. Index `privacy_request_by_person`.
UPDATE privacy_request SET state = 'pending', run = run + 1, lease_until = NULL, done = 0
WHERE kind = 'export' AND state = 'running'
AND person_id IN (SELECT person_id FROM person_sender WHERE {{ of_session }})

-- name: forget_session_of_answers
-- The id of a session may be a phone number. Index `outbox_by_event`.
UPDATE outbox SET session_key = '{{ erased }}' WHERE inbox_id = ANY(%(events)s) AND message = '{}'

-- name: forget_session_of_sends
-- Index `outbox_by_send`.
UPDATE outbox SET session_key = '{{ erased }}' WHERE send_id = ANY(%(sends)s) AND message = '{}'

{% macro erase_events(more) -%}
UPDATE inbox SET event = '{}', session_key = '{{ erased }}', answer = NULL, change = NULL, result = NULL, draft = NULL,
    error = NULL, status = 1, await_until = NULL, finished_at = coalesce(finished_at, now())
WHERE {{ of_session }}{{ more }} RETURNING id
{%- endmacro %}

-- name: erase_events
-- Work on an event that is under way stores nothing: the event has an outcome now. Index `inbox_by_session`.
{{ erase_events("") }}

-- name: erase_finished_events
{{ erase_events(" AND status <> 0") }}

-- name: delete_sends
-- Index `send_by_session`.
DELETE FROM send WHERE {{ of_session }} RETURNING id

-- name: delete_old_sends
DELETE FROM send WHERE {{ of_session }}
AND (idempotency_key IS NULL OR created_at < {{ now }} - interval '24 hours') RETURNING id

{# What was sent, and has an id of the platform or none. Indexes `outbox_by_event` and `outbox_by_send`. #}
{% macro blank(of) -%}
UPDATE outbox SET message = '{}', target = '{}', last_error = NULL
WHERE {{ of }} AND status = 1 AND ref IS NOT NULL
{%- endmacro %}
{% macro delete_unnamed(of) -%}
DELETE FROM outbox WHERE {{ of }} AND status = 1 AND ref IS NULL
{%- endmacro %}

-- name: blank_answers
{{ blank("inbox_id = ANY(%(events)s)") }}

-- name: delete_unnamed_answers
{{ delete_unnamed("inbox_id = ANY(%(events)s)") }}

-- name: blank_sends
{{ blank("send_id = ANY(%(sends)s)") }}

-- name: delete_unnamed_sends
{{ delete_unnamed("send_id = ANY(%(sends)s)") }}

-- name: delete_unsent
-- Index `outbox_by_queue`.
DELETE FROM outbox
WHERE (instance_id + 0, session_key || '', status + 0) = (%(instance)s, %(session)s, 0)
AND hashtextextended(session_key, instance_id) = hashtextextended(%(session)s, %(instance)s)

-- name: delete_dead
-- Index `outbox_dead`.
DELETE FROM outbox WHERE {{ of_session }} AND status = 2

-- name: delete_files
-- Index `message_file_by_session`, and the primary key of `blob`.
WITH gone AS (DELETE FROM message_file WHERE {{ of_session }} RETURNING blob_key), counted AS (
    SELECT blob_key, count(*) AS count FROM gone GROUP BY 1
)
UPDATE blob b SET reference_count = greatest(0, b.reference_count - c.count) FROM counted c WHERE b.key = c.blob_key
RETURNING b.key

-- name: delete_aliases
-- Index `session_alias_by_session`.
DELETE FROM session_alias WHERE {{ of_session }}

-- name: delete_chat_history
DELETE FROM chat_history WHERE {{ of_session }}

-- name: delete_resource_states
DELETE FROM resource_state WHERE {{ of_session }}

-- name: delete_agent_tasks
-- Index `agent_task_by_session`.
DELETE FROM agent_task WHERE {{ of_session }}

-- name: delete_web_chat
-- What the web chat shows. Index `web_chat_session`.
DELETE FROM web_chat WHERE {{ of_session }}

-- name: delete_confirmations
DELETE FROM tool_confirmation WHERE {{ of_session }}

-- name: delete_approvals
DELETE FROM tool_approval WHERE {{ of_session }}

-- name: delete_approval_requests
-- Index `approval_request_by_session`.
DELETE FROM approval_request WHERE {{ of_session }}

-- name: delete_feedback
-- Index `feedback_by_session`.
DELETE FROM feedback WHERE {{ of_session }}

-- name: delete_report_events
-- Index `report_event_by_session`.
DELETE FROM report_event WHERE {{ of_session }}

-- name: delete_report_people
-- As `count_day_messages` makes the digests. Primary key.
DELETE FROM report_person WHERE day >= now()::date - 7 AND instance_id = %(instance)s AND digest = ANY(%(digests)s)

-- name: delete_notification_causes
-- Before the notifications: one that is being stored holds the row of its cause. Index
-- `notification_cause_by_session`.
DELETE FROM notification_cause WHERE {{ of_session }}

-- name: delete_notifications
-- Index `notification_by_session`.
DELETE FROM notification WHERE {{ of_session }}

-- name: delete_notes
-- After the queues: a note that is being added holds the row of its queue. Index `conversation_note_by_session`.
DELETE FROM conversation_note WHERE {{ of_session }}

-- name: delete_logged_events
-- Index `event_log_by_session`.
DELETE FROM event_log WHERE {{ of_session }}

-- name: delete_senders
-- A person without conversations goes with the last sender. Primary key.
DELETE FROM person_sender WHERE {{ of_session }}

-- name: delete_unanswered
DELETE FROM unanswered WHERE {{ of_session }}

-- name: delete_notices
-- Primary key.
DELETE FROM access_notice WHERE instance_id = %(instance)s AND external_id = ANY(%(senders)s)

-- name: delete_correspondents
-- Primary key.
DELETE FROM queue WHERE kind = 2 AND instance_id = %(instance)s
AND session_key = ANY(%(senders)s)

{% set delete_queues -%}
DELETE FROM queue WHERE kind IN (0, 1) AND {{ of_session }}
{%- endset %}

-- name: delete_queues
-- Primary key.
{{ delete_queues }}

{% set is_idle -%}
q.kind = 0 AND q.pending = 0 AND q.owner IS NULL AND q.touched_at < {{ now }} - %(kept)s
AND NOT EXISTS (SELECT FROM queue o WHERE o.kind = 1 AND o.instance_id = q.instance_id
    AND o.session_key = q.session_key AND o.pending > 0)
{%- endset %}

-- name: silent_conversations
-- Index `queue_touched`, and the primary key.
SELECT q.touched_at, q.instance_id, q.session_key FROM queue q WHERE {{ is_idle }}
AND (q.touched_at, q.instance_id, q.session_key) > (%(at)s, %(instance)s, %(session)s)
ORDER BY q.touched_at, q.instance_id, q.session_key LIMIT {{ batch }}

-- name: lock_silent
-- Nothing waits for the disk: what a crash of the database takes back is erased again.
SELECT set_config('synchronous_commit', 'off', true) FROM queue q
WHERE {{ is_idle }} AND q.instance_id = %(instance)s AND q.session_key = %(session)s FOR UPDATE SKIP LOCKED

-- name: has_dead_letter
-- Index `outbox_dead`.
SELECT 1 FROM outbox WHERE {{ of_session }} AND status = 2 LIMIT 1

-- name: blank_queue
-- Primary key.
UPDATE queue SET form = NULL, assignee = NULL, labels = NULL WHERE kind = 0 AND {{ of_session }}
AND num_nonnulls(form, assignee, labels) > 0

-- name: forget_queues
-- A send with an idempotency key is kept as long as that. Primary key, and index `send_by_session`.
{{ delete_queues }} AND touched_at < {{ now }} - %(memory)s AND NOT EXISTS (SELECT FROM send WHERE {{ of_session }})

-- name: delete_old_chats
-- What the web chat shows of conversations in which nobody has written. Index `web_chat_by_age`, and primary keys.
DELETE FROM web_chat WHERE id IN (
    SELECT c.id FROM web_chat c WHERE touched_at < {{ now }} - %(kept)s - interval '2 hours' AND NOT EXISTS (
        SELECT FROM queue q WHERE q.kind = 0 AND q.instance_id = c.instance_id
        AND q.session_key = c.session_key
    ) ORDER BY touched_at LIMIT {{ batch }}
)

-- name: shorten_chats
-- Indexes `web_chat_by_age` and `web_chat_message_shown`, and the primary key.
DELETE FROM web_chat_message m USING (
    SELECT c.id, (
        SELECT place FROM web_chat_message n WHERE n.web_chat_id = c.id AND body IS NOT NULL
        ORDER BY place DESC OFFSET {{ longest_chat }} LIMIT 1
    ) AS last FROM web_chat c WHERE c.touched_at > {{ now }} - interval '2 days'
) c WHERE m.web_chat_id = c.id AND m.place <= c.last
