-- The statements of votes on answers.

{# Records a vote on the answer to an event, once for each person; a later one takes its place. An answer of a resource
   ends with its author. Primary key of `inbox`, and index `feedback_vote`. #}
{% macro vote(answered) -%}
WITH answered AS (
    SELECT id, instance_id, session_key FROM inbox WHERE {{ answered }} AND instance_id = %(instance)s
    AND answer LIKE '%%"author":"resource"}' AND position(%(proof)s IN answer) > 0 FOR SHARE
), voted AS (
    INSERT INTO feedback AS f (instance_id, session_key, inbox_id, sender_key, sender, sender_name, rating)
    SELECT instance_id, session_key, id, %(sender_key)s, %(sender)s, %(name)s, %(rating)s FROM answered
    ON CONFLICT (inbox_id, sender_key) DO UPDATE
    SET rating = excluded.rating, sender_name = excluded.sender_name, at = now()
    WHERE f.rating <> excluded.rating
    RETURNING instance_id, session_key, inbox_id
), logged AS (
    INSERT INTO event_log (kind, instance_id, session_key, ref, data)
    SELECT 'message.feedback', instance_id, session_key, inbox_id, %(data)s FROM voted
    WHERE EXISTS (SELECT FROM event_listener WHERE until > now())
)
SELECT count(*) FROM answered
{%- endmacro %}

-- name: vote_by_press
{{ vote("id = %(inbox_id)s") }}

-- name: vote_by_reaction
-- Index `outbox_by_ref`.
{{ vote("id = (
    SELECT inbox_id FROM outbox WHERE instance_id = %(instance)s AND ref IS NOT NULL AND ref = %(ref)s
    AND hashtextextended(ref, 0) = hashtextextended(%(ref)s, 0) AND inbox_id IS NOT NULL ORDER BY id DESC LIMIT 1
)") }}

-- name: list_feedback
-- Of several instances. Indexes `feedback_by_instance` and `feedback_by_rating`, and the primary key of `inbox`.
SELECT f.id, f.instance_id, f.inbox_id, f.rating, f.sender, f.sender_name, f.at, i.event, i.answer
FROM (
    SELECT f.* FROM unnest(%(instances)s::bigint[]) AS n(id) CROSS JOIN LATERAL (
        SELECT * FROM feedback WHERE instance_id = n.id AND id < %(before)s
        {condition} ORDER BY id DESC LIMIT %(count)s
    ) f ORDER BY f.id DESC LIMIT %(count)s
) f LEFT JOIN inbox i ON i.id = f.inbox_id AND i.answer IS NOT NULL ORDER BY f.id DESC
