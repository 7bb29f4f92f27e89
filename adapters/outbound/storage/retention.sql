-- The statements that delete rows by their age. `{name}` is filled in for each rule.

-- name: delete_old
-- Answers with the number of rows, and the last value of `order`.
WITH gone AS (
    DELETE FROM {table} WHERE ({key}) IN (
        SELECT {key} FROM {table} WHERE {where} AND {order} >= %(after)s::{kind}
        AND {column} < {{ now }} - %(kept)s ORDER BY {order} LIMIT %(batch)s
        FOR UPDATE SKIP LOCKED
    ) RETURNING {order} AS place
) SELECT count(*), max(place)::text FROM gone

-- name: overdue
-- The place of a rule, and for how many seconds its oldest row has been due; no row without old rows.
(
    SELECT {place}, extract(epoch FROM {{ now }} - %(kept{place})s - {column})::float8 FROM {table}
    WHERE {where} ORDER BY {order} LIMIT 1
)

-- name: delete_of_instance
WITH gone AS (
    DELETE FROM {table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM {table} WHERE {condition} LIMIT %(batch)s FOR UPDATE
    )) RETURNING 1
) SELECT count(*), 0 FROM gone

-- name: delete_repeated_files
-- Bytes that no row needs go by their own age. Index `message_file_by_age`, and the primary key of `blob`.
WITH old AS (
    SELECT id, blob_key FROM message_file WHERE created_at < {{ now }} - %(kept)s ORDER BY created_at LIMIT %(batch)s
), gone AS (
    DELETE FROM message_file f USING old WHERE f.id = old.id RETURNING f.blob_key
), counted AS (
    UPDATE blob b SET reference_count = greatest(1, b.reference_count - c.count)
    FROM (SELECT blob_key, count(*) AS count FROM gone GROUP BY 1) c WHERE b.key = c.blob_key
) SELECT count(*), 0 FROM gone

-- name: long_conversations
-- One in which a message waits is looked at another time. Indexes `queue_touched` and `inbox_by_session`.
SELECT q.instance_id, q.session_key, q.touched_at, (
    SELECT n.id FROM inbox n WHERE n.instance_id = q.instance_id AND n.session_key = q.session_key
    ORDER BY n.id DESC OFFSET {{ longest_conversation }} LIMIT 1
) FROM queue q WHERE q.kind = 0 AND q.pending = 0
    AND (q.touched_at, q.instance_id, q.session_key) > (%(at)s, %(instance)s, %(session)s)
ORDER BY q.touched_at, q.instance_id, q.session_key LIMIT {{ page }}

-- name: delete_turns
-- Index `inbox_by_session`.
WITH gone AS (
    DELETE FROM inbox WHERE id IN (
        SELECT i.id FROM inbox i WHERE i.instance_id = %(instance)s AND i.session_key = %(session)s
        AND i.id <= %(last)s AND i.status <> 0 AND i.finished_at < {{ now }} - %(kept)s ORDER BY i.id LIMIT %(batch)s
    ) RETURNING 1
) SELECT count(*), 0 FROM gone

-- name: removed_instances
-- Until an hour after its removal something may still be stored for an instance, by a transaction that began before.
-- Index `removed_instance_by_age`.
SELECT instance_id, removed_at < now() - interval '1 hour' FROM removed_instance
ORDER BY removed_at LIMIT 1000

-- name: forget_instances
DELETE FROM removed_instance WHERE instance_id = ANY(%s)

-- name: lock_retention
-- What a crash of the database takes back is deleted again.
SELECT pg_try_advisory_xact_lock(1985174040), set_config('synchronous_commit', 'off', true)

-- name: bloated_tables
SELECT relname FROM pg_stat_user_tables WHERE n_dead_tup > greatest(100000, n_live_tup) ORDER BY relname
