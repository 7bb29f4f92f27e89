-- The statements of exports and erasures of people.

{% set columns = "id, owner, person_id, kind, state, requested_by, done, total, run, failures, error, blob_key, size,
    created_at, finished_at, expires_at" %}
{% set is_open = "state IN ('pending', 'running')" %}

-- name: lock_person
-- Primary key.
SELECT owner FROM person WHERE id = %(person)s AND NOT is_erased FOR UPDATE

-- name: open_request
-- Index `privacy_request_by_person`.
SELECT {{ columns }} FROM privacy_request WHERE person_id = %(person)s AND kind = %(kind)s AND {{ is_open }}
ORDER BY id DESC LIMIT 1

-- name: latest_erasure
-- Index `privacy_request_by_person`.
SELECT {{ columns }} FROM privacy_request WHERE person_id = %(person)s AND kind = 'erase' ORDER BY id DESC LIMIT 1

-- name: add_request
-- Index `person_sender_by_person`.
INSERT INTO privacy_request (owner, person_id, kind, requested_by, total)
SELECT owner, id, %(kind)s, %(user)s, (
    SELECT count(DISTINCT (instance_id, session_key)) FROM person_sender s WHERE s.person_id = p.id
) FROM person p WHERE id = %(person)s RETURNING {{ columns }}

-- name: begin_erasure
-- Nothing joins the person any more, and nothing is exported. Primary key, and index `privacy_request_by_person`.
WITH erased AS (UPDATE person SET is_erased = true WHERE id = %(person)s)
UPDATE privacy_request SET state = 'failed', error = 'the person is erased', finished_at = now(), run = run + 1
WHERE person_id = %(person)s AND kind = 'export' AND {{ is_open }}

-- name: find_request
-- Primary key.
SELECT {{ columns }} FROM privacy_request WHERE id = %(id)s

-- name: list_requests
-- `{condition}` is that on the owner. Primary key, and index `privacy_request_by_owner`.
SELECT {{ columns }} FROM privacy_request WHERE id < %(before)s{condition} ORDER BY id DESC LIMIT %(count)s

-- name: take_request
-- An export begins anew. A lease that lies further ahead than it may was taken before the clock was put back. Index `privacy_request_open`.
UPDATE privacy_request p SET state = 'running', run = run + 1, lease_until = now() + make_interval(secs => {{ lease }}),
    done = CASE WHEN kind = 'export' THEN 0 ELSE done END, total = CASE WHEN kind = 'export' THEN (
        SELECT count(DISTINCT (instance_id, session_key)) FROM person_sender s WHERE s.person_id = p.person_id
    ) ELSE total END
WHERE id = (
    SELECT id FROM privacy_request WHERE {{ is_open }} AND (lease_until IS NULL OR lease_until < now()
        OR lease_until > now() + make_interval(secs => {{ longest }}))
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING {{ columns }}

-- name: renew_request
-- Primary key.
UPDATE privacy_request SET lease_until = now() + make_interval(secs => {{ lease }}), done = coalesce(%(done)s, done)
WHERE id = %(id)s AND run = %(run)s AND state = 'running'

-- name: attach_blob
-- Primary keys.
WITH earlier AS (
    SELECT id, blob_key FROM privacy_request WHERE id = %(id)s AND run = %(run)s AND state = 'running' FOR UPDATE
), changed AS (
    UPDATE privacy_request r SET blob_key = %(blob)s, size = %(size)s FROM earlier e WHERE r.id = e.id RETURNING r.id
), released AS (
    UPDATE blob b SET reference_count = greatest(0, b.reference_count - 1) FROM earlier e
    WHERE b.key = e.blob_key AND e.blob_key <> %(blob)s
)
INSERT INTO blob (key, size, reference_count) SELECT %(blob)s, %(size)s, 1 FROM changed
ON CONFLICT (key) DO UPDATE SET reference_count = blob.reference_count + 1, touched_at = clock_timestamp()

-- name: finish_request
-- Primary key.
UPDATE privacy_request SET state = 'done', finished_at = now(), done = total, error = NULL,
    expires_at = CASE WHEN blob_key IS NOT NULL THEN now() + %(life)s END
WHERE id = %(id)s AND run = %(run)s AND state = 'running'

-- name: retry_request
-- Primary key.
UPDATE privacy_request SET failures = failures + 1, error = %(error)s,
    state = CASE WHEN failures + 1 >= {{ most_failures }} THEN 'failed' ELSE 'pending' END,
    finished_at = CASE WHEN failures + 1 >= {{ most_failures }} THEN now() END,
    lease_until = now() + make_interval(secs => least({{ longest }}, 5 * 2 ^ failures))
WHERE id = %(id)s AND run = %(run)s AND state = 'running'

-- name: senders_of_person
-- Behind the sender of the page before. Index `person_sender_by_person`.
SELECT s.instance_id, s.session_key, s.sender_key, c.channel_id, c.channel_name, s.session_id, s.sender, s.name,
    s.language, s.identities, s.user_id, s.first_at, s.seen_at,
    EXISTS (SELECT FROM person_sender o WHERE o.instance_id = s.instance_id AND o.session_key = s.session_key
        AND o.person_id <> s.person_id)
FROM person_sender s JOIN channel_instance c ON c.id = s.instance_id
WHERE s.person_id = %(person)s AND (s.instance_id, s.session_key, s.sender_key) > (%(instance)s, %(session)s, %(sender)s)
ORDER BY s.instance_id, s.session_key, s.sender_key LIMIT {{ page }}

-- name: erase_votes
-- Of the senders on answers to others. Index `feedback_by_instance`.
DELETE FROM feedback f USING unnest(%(instances)s, %(senders)s) AS s(instance_id, sender_key)
WHERE f.instance_id = s.instance_id AND f.sender_key = s.sender_key

-- name: erase_refused
-- What the senders wrote and was not answered. An event begins with its session and its sender. Index
-- `unanswered_by_instance`.
DELETE FROM unanswered u USING unnest(%(instances)s, %(documents)s) AS s(instance_id, sender)
WHERE u.instance_id = s.instance_id
AND substring(u.event FROM '^\{"session":(?:"(?:[^"\\]|\\.)*"),"sender":("(?:[^"\\]|\\.)*")') = s.sender

-- name: subscriptions
-- Index `channel_instance_subscriptions`.
SELECT id FROM channel_instance WHERE status = 'subscription'

-- name: erase_pushes
-- A push names the session of its event. Index `outbox_by_instance`.
DELETE FROM outbox WHERE instance_id = ANY(%(subscriptions)s) AND session_key = ANY(%(places)s)

-- name: erase_push_queues
-- Primary key.
DELETE FROM queue WHERE kind = 1 AND instance_id = ANY(%(subscriptions)s) AND session_key = ANY(%(places)s)

-- name: erase_push_cursors
-- Primary key.
DELETE FROM push_cursor WHERE instance_id = ANY(%(subscriptions)s) AND session_key = ANY(%(places)s)

-- name: delete_person
-- Once no conversation is left. Primary key.
SELECT refresh_people(ARRAY[%(person)s::bigint])

-- name: events
-- Primary key.
SELECT id, event FROM inbox WHERE id = ANY(%(ids)s) AND instance_id = %(instance)s AND event <> '{}'

-- name: votes
-- Index `feedback_by_session`.
SELECT inbox_id, rating, at FROM feedback
WHERE instance_id = %(instance)s AND session_key = %(session)s AND sender_key = %(sender)s ORDER BY id LIMIT {{ page }}

-- name: refused
-- Index `unanswered_by_instance`.
SELECT event, reason, received_at FROM unanswered WHERE instance_id = %(instance)s
AND substring(event FROM '^\{"session":(?:"(?:[^"\\]|\\.)*"),"sender":("(?:[^"\\]|\\.)*")') = %(document)s
ORDER BY id LIMIT {{ page }}
