-- The statements of the list of conversations. PostgreSQL refuses to read JSON texts with NUL characters.

{% set found -%}
(
    EXISTS (SELECT FROM (
        SELECT event, answer FROM inbox i WHERE i.instance_id = q.instance_id AND i.session_key = q.session_key
        ORDER BY i.id DESC LIMIT {{ most_counted }}
    ) i WHERE CASE WHEN position('\u0000' IN event) = 0 THEN event::json ->> 'text' ILIKE %(pattern)s
            OR event::json ->> 'name' ILIKE %(pattern)s OR event::json ->> 'sender' ILIKE %(pattern)s END
        OR CASE WHEN position('\u0000' IN answer) = 0 THEN answer::json ->> 'text' ILIKE %(pattern)s END
    ) OR EXISTS (SELECT FROM (
        SELECT content FROM send s WHERE s.instance_id = q.instance_id AND s.session_key = q.session_key
        ORDER BY s.id DESC LIMIT {{ most_counted }}
    ) s WHERE CASE WHEN position('\u0000' IN content) = 0 THEN content::json ->> 'text' ILIKE %(pattern)s END)
)
{%- endset %}

{# The rows of a page: `page` selects conversations and their instances. #}
{% macro rows_of(page) -%}
SELECT q.instance_id, q.channel_id, q.channel_name, q.session_key, q.touched_at, q.pending > 0,
    CASE WHEN q.held_until > now() THEN q.held_until END, CASE WHEN q.held_by_until = q.held_until THEN q.held_by END,
    i.event, i.answer, i.received_at, i.finished_at, s.session_id, s.content, s.created_at,
    (SELECT count(*) + count(answer) FROM (SELECT answer FROM inbox n
        WHERE n.instance_id = q.instance_id AND n.session_key = q.session_key LIMIT {{ most_counted }}) n)
    + (SELECT count(*) FROM (SELECT FROM send n
        WHERE n.instance_id = q.instance_id AND n.session_key = q.session_key LIMIT {{ most_counted }}) n),
    EXISTS (SELECT FROM tool_confirmation c WHERE c.instance_id = q.instance_id AND c.session_key = q.session_key
        AND c.closed_at IS NULL AND c.decision IS NULL AND c.expires_at > now()),
    q.assignee, q.labels, q.closed_at IS NOT NULL, CASE WHEN q.snoozed_until > now() THEN q.snoozed_until END,
    %(pattern)s::text IS NULL OR {{ found }}
FROM (
    {{ page }}
) q LEFT JOIN LATERAL (
    SELECT * FROM (SELECT * FROM inbox i WHERE i.instance_id = q.instance_id AND i.session_key = q.session_key
        ORDER BY i.id DESC LIMIT 10) i
    ORDER BY greatest(received_at, CASE WHEN answer IS NOT NULL THEN finished_at END) DESC, id DESC LIMIT 1
) i ON true LEFT JOIN LATERAL (
    SELECT * FROM send s WHERE s.instance_id = q.instance_id AND s.session_key = q.session_key
    ORDER BY s.id DESC LIMIT 1
) s ON true
ORDER BY q.touched_at DESC, q.instance_id DESC, q.session_key DESC
{%- endmacro %}

{% set latest = "q.touched_at DESC, q.instance_id DESC, q.session_key DESC LIMIT %(count)s" %}
{% set of_instances -%}
SELECT c.channel_id, c.channel_name, q.* FROM (
        SELECT c.id, c.channel_id, c.channel_name FROM channel_instance c CROSS JOIN LATERAL (
            SELECT touched_at FROM queue
            WHERE kind = 0 AND instance_id + 0 = c.id{conversations}
            ORDER BY touched_at DESC LIMIT 1
        ) l WHERE c.status = 'active'{instances} ORDER BY l.touched_at DESC, c.id DESC LIMIT %(count)s
    ) c CROSS JOIN LATERAL (
        SELECT * FROM queue WHERE kind = 0 AND instance_id + 0 = c.id{conversations}
        ORDER BY touched_at DESC, session_key DESC LIMIT %(count)s
    ) q ORDER BY {{ latest }}
{%- endset %}
{% set of_few -%}
SELECT c.channel_id, c.channel_name, q.*
    FROM (SELECT * FROM queue WHERE kind = 0{conversations}) q JOIN channel_instance c ON c.id = q.instance_id
    WHERE c.status = 'active'{instances} ORDER BY {{ latest }}
{%- endset %}

-- name: list_conversations
-- `{conversations}` and `{instances}` are the conditions that a page needs.
-- Of the instances only those with the latest conversations are looked at more closely: no other one has any of
-- the page. Indexes `queue_conversations`, `queue_assigned`, `queue_open`, `queue_open_by_assignee`, `queue_snoozed`,
-- `queue_held`, `queue_closed`, `inbox_by_session`, `send_by_session` and `tool_confirmation_open`.
{{ rows_of(of_instances) }}

-- name: list_few
-- As `list_conversations`, with a condition that holds for few conversations: they are found at once, in all instances.
-- Indexes `queue_labelled`, `inbox_failed` and `outbox_dead`, and the primary key of `queue`.
{{ rows_of(of_few) }}

-- name: count_conversations
-- For each view how many conversations it shows, up to a bound. `{instances}` is the condition of those that the caller
-- sees. Indexes as in the lists. A conversation whose texts were erased stays for a while, and is not counted.
{% set has_texts -%}
(EXISTS (SELECT FROM inbox i WHERE i.instance_id = q.instance_id AND i.session_key = q.session_key)
                OR EXISTS (SELECT FROM send s WHERE s.instance_id = q.instance_id AND s.session_key = q.session_key))
{%- endset %}
SELECT
{%- for name, condition in views.items() %}
(SELECT count(*) FROM (
    SELECT FROM channel_instance c CROSS JOIN LATERAL (
        SELECT FROM queue q WHERE kind = 0 AND instance_id + 0 = c.id AND {{ condition }} AND {{ has_texts }}
        LIMIT {{ most_counted }}
    ) q WHERE c.status = 'active'{instances} LIMIT {{ most_counted }}
) {{ name }}),
{%- endfor %}
(SELECT count(*) FROM (
    SELECT FROM (SELECT * FROM queue WHERE kind = 0 AND {failed}) q JOIN channel_instance c ON c.id = q.instance_id
    WHERE {{ has_texts }} AND c.status = 'active'{instances} LIMIT {{ most_counted }}
) failed)
