-- The statements of people and of their senders. `refresh_people` (see the migrations) brings up to date what follows
-- from the senders of a person.

{% set anew = "run = run + CASE WHEN state = 'running' THEN 1 ELSE 0 END,
    lease_until = CASE WHEN state = 'running' THEN NULL ELSE lease_until END, done = CASE WHEN state = 'running' THEN 0 ELSE done END,
    state = CASE WHEN state = 'running' THEN 'pending' ELSE state END" %}

-- name: claim_round
-- One process looks for new senders at a time. Primary key.
INSERT INTO person_position AS p (id, inbox_id, claimed_at) VALUES (1, 0, now()) ON CONFLICT (id) DO UPDATE
SET claimed_at = now() WHERE p.claimed_at NOT BETWEEN now() - make_interval(secs => %(pause)s) AND now()
RETURNING inbox_id

-- name: next_events
-- An event begins with its session and its sender. A known sender, of whom the event tells nothing new, is named by its
-- key where it was not seen shortly before; others by the id that the event has. `is_settled`: no transaction that began
-- earlier is open any more; it is seen here a moment after its time was taken. Primary keys.
WITH settled AS MATERIALIZED (
    SELECT least(now(), min(xact_start)) - make_interval(secs => %(slack)s) AS until FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'switchboard' AND pid <> pg_backend_pid()
)
SELECT i.id, i.instance_id, c.user_id, c.channel_id, i.session_key, i.received_at,
    CASE WHEN k.sender_key IS NULL
        THEN substring(i.event FROM '^\{"session":(?:"(?:[^"\\]|\\.)*"),"sender":("(?:[^"\\]|\\.)*")') END,
    CASE WHEN k.seen_at <= i.received_at - make_interval(secs => %(fresh)s) THEN k.sender_key END,
    i.received_at <= (SELECT until FROM settled)
FROM (SELECT * FROM inbox WHERE id > %(position)s ORDER BY id LIMIT %(count)s) i
LEFT JOIN channel_instance c ON c.id = i.instance_id AND c.status IN ('active', 'unreadable')
LEFT JOIN LATERAL (
    SELECT sender_key, seen_at FROM person_sender s
    WHERE s.instance_id = i.instance_id AND s.session_key = i.session_key AND starts_with(i.event, s.beginning)
    AND s.checked_at > i.received_at - interval '1 day' AND position(s.profile IN i.event) > 0
    AND (s.identity_keys IS NOT NULL OR position(',"identities":[[' IN i.event) = 0)
) k ON true
ORDER BY i.id

-- name: see_senders
-- Primary keys.
WITH seen AS (
    SELECT instance_id, session_key, sender_key, max(at) AS at
    FROM unnest(%(instances)s, %(sessions)s, %(senders)s, %(times)s::timestamptz[])
        AS t(instance_id, session_key, sender_key, at) GROUP BY 1, 2, 3
), moved AS (
    UPDATE person_sender s SET seen_at = n.at FROM seen n
    WHERE s.instance_id = n.instance_id AND s.session_key = n.session_key AND s.sender_key = n.sender_key
    AND s.seen_at < n.at RETURNING s.person_id, s.seen_at
)
UPDATE person p SET seen_at = m.at FROM (SELECT person_id, max(seen_at) AS at FROM moved GROUP BY 1) m
WHERE p.id = m.person_id AND p.seen_at < m.at

-- name: advance
-- Primary key.
UPDATE person_position SET inbox_id = greatest(inbox_id, %(position)s)

-- name: lock_people
-- Senders are given to people by one transaction at a time.
SELECT pg_advisory_xact_lock(1985174041)

-- name: write_later
-- What a crash of the database takes back is done again.
SELECT set_config('synchronous_commit', 'off', true)

-- name: people_of_sender
-- The people that may have a sender, the most certain one first: the one that has it in this conversation (3), in
-- another one of the instance (2), one of its identities (1), its user (0). Primary key, and indexes
-- `person_sender_by_account`, `person_sender_identified` and `person_sender_by_user`.
SELECT p.id, s.evidence, p.was_split FROM (
    SELECT person_id, CASE WHEN session_key = %(session)s THEN 3 ELSE 2 END AS evidence, seen_at FROM person_sender
    WHERE instance_id = %(instance)s AND sender_key = %(sender)s
    UNION ALL
    SELECT person_id, 1, seen_at FROM person_sender
    WHERE identity_keys IS NOT NULL AND identity_keys && %(identities)s::text[]
    UNION ALL
    SELECT person_id, 0, seen_at FROM person_sender WHERE user_id = %(user)s
) s JOIN person p ON p.id = s.person_id
WHERE p.owner = %(owner)s AND NOT p.is_erased ORDER BY s.evidence DESC, s.seen_at DESC, p.id FOR UPDATE OF p

-- name: add_person
INSERT INTO person (owner) VALUES (%(owner)s) RETURNING id

-- name: save_sender
-- Primary key.
INSERT INTO person_sender AS s (
    instance_id, session_key, sender_key, person_id, session_id, sender, name, language, identities, identity_keys,
    user_id, beginning, profile, first_at, seen_at, checked_at
) VALUES (
    %(instance)s, %(session)s, %(sender)s, %(person)s, %(session_id)s, %(sender_id)s, %(name)s, %(language)s,
    %(document)s, %(identities)s, %(user)s, %(beginning)s, %(profile)s, %(at)s, %(at)s, %(at)s
) ON CONFLICT (instance_id, session_key, sender_key) DO UPDATE SET
    person_id = excluded.person_id, name = coalesce(nullif(excluded.name, ''), s.name),
    language = coalesce(excluded.language, s.language),
    identities = CASE WHEN excluded.identity_keys IS NULL THEN s.identities ELSE excluded.identities END,
    identity_keys = coalesce(excluded.identity_keys, s.identity_keys), user_id = coalesce(excluded.user_id, s.user_id),
    beginning = excluded.beginning, profile = excluded.profile, checked_at = excluded.checked_at,
    first_at = least(s.first_at, excluded.first_at), seen_at = greatest(s.seen_at, excluded.seen_at)

-- name: inherit
-- What was set by hand stays; of the rest, what others have. Primary key.
UPDATE person p SET given_name = coalesce(p.given_name, o.name), given_language = coalesce(p.given_language, o.language),
    labels = o.labels
FROM (
    SELECT (array_agg(given_name ORDER BY id) FILTER (WHERE given_name IS NOT NULL))[1] AS name,
        (array_agg(given_language ORDER BY id) FILTER (WHERE given_language IS NOT NULL))[1] AS language,
        (SELECT array_agg(label) FROM (
            SELECT DISTINCT unnest(labels) AS label FROM person WHERE id = %(person)s OR id = ANY(%(others)s)
            ORDER BY 1 LIMIT {{ most_labels }}
        ) l) AS labels
    FROM person WHERE id = ANY(%(others)s)
) o WHERE p.id = %(person)s

-- name: give_senders
-- Gives all senders of some people to another one. Index `person_sender_by_person`.
UPDATE person_sender SET person_id = %(person)s WHERE person_id = ANY(%(others)s)

-- name: move_exports
-- Exports of people who were joined are those of one; one that is open begins anew. Index `privacy_request_by_person`.
UPDATE privacy_request SET person_id = %(person)s, {{ anew }}
WHERE kind = 'export' AND person_id = ANY(%(others)s || %(person)s::bigint)

-- name: end_exports
-- Exports of a person who was split hold what is another's now: one that is open begins anew, and the files of others
-- are removed. Index `privacy_request_by_person`, and primary keys.
WITH held AS (
    SELECT id, blob_key FROM privacy_request WHERE person_id = %(id)s AND kind = 'export' FOR UPDATE
), ended AS (
    UPDATE privacy_request r SET blob_key = NULL, expires_at = CASE WHEN r.blob_key IS NOT NULL THEN now() END, {{ anew }}
    FROM held h WHERE r.id = h.id
)
UPDATE blob b SET reference_count = greatest(0, reference_count - 1) FROM held h WHERE b.key = h.blob_key

-- name: refresh
SELECT refresh_people(%(people)s)

-- name: change_person
-- Primary key.
UPDATE person SET
    given_name = CASE WHEN %(name)s::text IS NULL THEN given_name ELSE nullif(%(name)s, '') END,
    given_language = CASE WHEN %(language)s::text IS NULL THEN given_language ELSE nullif(%(language)s, '') END,
    labels = CASE WHEN %(labels)s::text[] IS NULL THEN labels ELSE nullif(%(labels)s::text[], '{}') END
WHERE id = %(id)s AND NOT is_erased

-- name: known_people
-- Primary key.
SELECT count(*) FROM person WHERE id = ANY(%(people)s) AND NOT is_erased

-- name: split_off
-- Makes a person for some of the senders of one. Index `person_sender_by_person`.
WITH made AS (
    INSERT INTO person (owner, was_split) SELECT owner, true FROM person WHERE id = %(id)s AND NOT is_erased RETURNING id
)
UPDATE person_sender s SET person_id = made.id FROM made WHERE s.person_id = %(id)s AND (
    identity_keys && %(identities)s::text[] OR (instance_id, session_key) IN (
        SELECT * FROM unnest(%(instances)s, %(sessions)s)
    )
) RETURNING made.id

-- name: mark_split
-- Primary key.
UPDATE person SET was_split = true WHERE id = %(id)s RETURNING
    EXISTS (SELECT FROM person_sender s WHERE s.person_id = person.id)

{% macro people(conditions) -%}
SELECT id, owner, name, language, labels, first_at, seen_at, given_name, given_language
FROM person WHERE NOT is_erased{{ conditions }}
ORDER BY seen_at DESC, id DESC LIMIT %(count)s
{%- endmacro %}

-- name: list_people
-- `{conditions}` are those that a page needs. Indexes `person_by_owner`, `person_by_age`, `person_labelled` and
-- `person_search`.
{{ people("{conditions}") }}

-- name: list_shared_people
-- Those of the owner, and those of others who have something in instances that are shared. `{own}` and `{shared}` are
-- the conditions that a page needs of both. The same indexes, and the primary key of `person_sender`.
SELECT * FROM (
    ({{ people(" AND owner = %(owner)s{own}") }})
    UNION ALL
    ({{ people(" AND owner <> %(owner)s AND EXISTS (SELECT FROM person_sender s WHERE s.person_id = person.id
        AND s.instance_id = ANY(%(shared)s::bigint[]){shared}") }})
) p ORDER BY seen_at DESC, id DESC LIMIT %(count)s

-- name: find_person
-- Primary key.
SELECT id, owner, name, language, labels, first_at, seen_at, given_name, given_language
FROM person WHERE id = %(id)s AND NOT is_erased

-- name: instances_of_person
-- Index `person_sender_by_person`.
SELECT DISTINCT instance_id FROM person_sender WHERE person_id = %(id)s ORDER BY 1

-- name: senders_of_people
-- The latest ones of each person, with the number of all; only those in some instances where `is_partial`. Index
-- `person_sender_by_person`, and primary keys.
SELECT s.person_id, s.instance_id, c.channel_id, c.channel_name, s.session_id, s.sender, s.name, s.first_at, s.seen_at,
    s.identities, s.user_id, s.language, s.count
FROM unnest(%(people)s::bigint[], %(partial)s::boolean[]) p(id, is_partial) CROSS JOIN LATERAL (
    SELECT *, count(*) OVER () AS count FROM person_sender
    WHERE person_id = p.id AND (NOT p.is_partial OR instance_id = ANY(%(instances)s::bigint[]))
    ORDER BY seen_at DESC, session_key, sender_key LIMIT %(most)s
) s JOIN channel_instance c ON c.id = s.instance_id
ORDER BY s.seen_at DESC, s.session_key, s.sender_key
