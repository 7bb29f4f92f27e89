-- The statements of the log of events.

{# The newest id. What the sequence says may be an id whose event nobody can see yet. Primary key. #}
{% set position = "coalesce((SELECT position FROM event_position WHERE reader = 'published'), 0)" %}

-- name: position
SELECT {{ position }}

-- name: publish
-- Index `event_log_unpublished`, and primary keys. The commit waits for the disk: what has an id is not forgotten,
-- nor is the transaction that recorded it, as that is older.
WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock({{ lock }}) AS ours), numbered AS MATERIALIZED (
    SELECT seq, nextval('event_id') AS id FROM (
        SELECT seq FROM event_log WHERE id IS NULL AND (SELECT ours FROM turn) ORDER BY seq LIMIT {{ batch }}
    ) next
), moved AS (
    INSERT INTO event_position (reader, position) SELECT 'published', max(id) FROM numbered HAVING count(*) > 0
    ON CONFLICT (reader) DO UPDATE SET position = excluded.position
)
UPDATE event_log e SET id = n.id FROM numbered n WHERE e.seq = n.seq AND e.id IS NULL

-- name: events_after
-- First in each row: the oldest id that is kept, the newest one that was given, how many rows were looked at, and
-- the last of their ids; where none is wanted, that is all. Last: how many are wanted, and the bytes of texts
-- before this one. Index `event_log_published`, then primary keys, and `inbox_by_session` for sessions whose key
-- is a hash.
WITH page AS MATERIALIZED (
    SELECT id, kind, at, instance_id, session_key, ref, data, user_id FROM event_log
    WHERE id > %(cursor)s ORDER BY id LIMIT {{ window }}
), wanted AS (
    SELECT p.*, coalesce(p.user_id, c.user_id) AS owner
    FROM page p LEFT JOIN channel_instance c ON c.id = p.instance_id
    WHERE p.kind = 'reset' OR (
        (%(owner)s::text IS NULL OR coalesce(p.user_id, c.user_id) = %(owner)s OR (
            p.user_id IS NULL AND p.instance_id = ANY(%(shared)s::bigint[])
        ))
        AND (cardinality(%(kinds)s::text[]) = 0 OR p.kind = ANY(%(kinds)s))
        AND (cardinality(%(instances)s::bigint[]) = 0 OR p.instance_id = ANY(%(instances)s))
    )
    ORDER BY p.id LIMIT %(limit)s
), told AS (
    SELECT w.id, w.kind, w.at, w.instance_id, w.session_key, w.owner, w.ref, w.data,
        o.inbox_id, o.send_id, i.event, i.answer, i.error, s.session_id,
        CASE WHEN i.id IS NULL AND s.id IS NULL AND w.session_key LIKE 'sha256:%%' THEN (
            SELECT event FROM inbox x WHERE x.instance_id = w.instance_id AND x.session_key = w.session_key
            ORDER BY x.id DESC LIMIT 1
        ) END AS latest,
        count(*) OVER () AS matched,
        sum(coalesce(octet_length(i.event), 0) + coalesce(octet_length(i.answer), 0))
            OVER (ORDER BY w.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
    FROM wanted w
    LEFT JOIN outbox o ON o.id = CASE WHEN w.kind LIKE 'delivery.%%' THEN w.ref END
    LEFT JOIN send s ON s.id = o.send_id
    LEFT JOIN inbox i ON i.id = CASE WHEN w.kind LIKE 'message.%%' THEN w.ref END
)
SELECT (SELECT min(id) FROM event_log WHERE id IS NOT NULL),
    {{ position }}, l.seen, l.reached, t.*
FROM (SELECT count(*) AS seen, max(id) AS reached FROM page) l
LEFT JOIN told t ON coalesce(t.bytes_before, 0) < {{ page_bytes }} ORDER BY t.id

-- name: listen
-- Where nobody had listened, events are missing before this one.
WITH begun AS (INSERT INTO event_log (kind) SELECT 'reset' WHERE NOT {{ listened }} RETURNING seq), renewed AS (
    INSERT INTO event_listener (id, until) VALUES (%s, now() + make_interval(days => %s))
    ON CONFLICT (id) DO UPDATE SET until = excluded.until
)
SELECT count(*) FROM begun
