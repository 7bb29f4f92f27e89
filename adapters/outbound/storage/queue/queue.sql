-- The statements of the message queue, each under its name: tables `queue`, `inbox`, `outbox` and `send`. What several
-- of them share is a Jinja macro.
--
-- Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent (counts rounds, is never leased).
-- Column `status` of `inbox`: 0 queued, 1 done, 2 failed. Of `outbox`: 0 pending, 1 sent, 2 dead.
-- A lease lasts 30 seconds and brings at most 8 rows of a queue. Comments name the indexes that a statement uses.
--
-- Adding nothing to a column (`|| ''`, `+ 0`) keeps other indexes from the rows that wait in a queue: those would find
-- what is done in a conversation too, or what waits for a whole instance, and the planner takes them for cheaper as
-- soon as the small index has room left from busier times. `(SELECT %(x)s)` has the planner guess the length of an
-- array without looking at it: else the statement would be planned anew for each message.

{% set listened = "EXISTS (SELECT FROM event_listener WHERE until > now())" %}

{# Records an event for each of `rows`, which have the columns `instance_id` and `session_key`, as long as anybody
   listens. In a statement it is a CTE of its own, which nothing has to read. `ref`: the row that the event is about. `data`: an
   expression of type text for what cannot be read from that row later, a small JSON object. #}
{% macro log(kind, rows, data="NULL", condition="", ref="id") -%}
INSERT INTO event_log (kind, instance_id, session_key, ref, data)
    SELECT {{ kind }}, instance_id, session_key, {{ ref }}, {{ data }} FROM {{ rows }}
    WHERE {{ listened }} {{ condition }} ORDER BY {{ ref }}
{%- endmacro %}

{# The data of `conversation.changed`: the state of a conversation after it. `more`: pairs of names and values. #}
{% macro state_data(more="") -%}
json_build_object('assignee', assignee, 'labels', coalesce(labels, '{}'), 'state', CASE
    WHEN closed_at IS NOT NULL THEN 'closed' WHEN snoozed_until > now() THEN 'snoozed' ELSE 'open' END,
    'snoozedUntil', CASE WHEN closed_at IS NULL AND snoozed_until > now()
        THEN to_char(snoozed_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END{{ more }})::text
{%- endmacro %}

{# Notes that conversations were assigned: `rows` have the assignee now, and the `former` one. `actor`: who did it. #}
{% macro note_assigned(rows, actor="NULL") -%}
INSERT INTO notification_cause (kind, instance_id, session_key, actor, named)
    SELECT 'assigned', instance_id, session_key, {{ actor }}, ARRAY[assignee] FROM {{ rows }}
    WHERE assignee IS NOT NULL AND assignee IS DISTINCT FROM former
{%- endmacro %}

{# The next rows of a queue `q`: condition for a row `r` of `inbox` or `outbox`. #}
{% macro queued_event(r, q) -%}
({{ r }}.instance_id, {{ r }}.session_key || '', {{ r }}.status) = ({{ q }}.instance_id, {{ q }}.session_key, 0)
            AND hashtextextended({{ r }}.session_key, 0) = hashtextextended({{ q }}.session_key, 0)
{%- endmacro %}
{% macro queued_message(r, q) -%}
({{ r }}.instance_id + 0, {{ r }}.session_key || '', {{ r }}.status + 0) = ({{ q }}.instance_id, {{ q }}.session_key, 0)
            AND hashtextextended({{ r }}.session_key, {{ r }}.instance_id) = hashtextextended({{ q }}.session_key, {{ q }}.instance_id)
{%- endmacro %}

{# Counts the rows of `source` on their queues. A queue that waits for a later time goes on waiting. `more` is what else
   is set of a queue that is there, `first` the value of `opened_at` of one that is not. #}
{% macro enqueue(kind, source, waits, is_open, more="", first="") -%}
INSERT INTO queue AS q (kind, instance_id, session_key, pending, due_at{{ ", opened_at" if first }})
    SELECT {{ kind }}, instance_id, session_key, count(*), now(){{ first }} FROM {{ source }} GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET
        pending = q.pending + excluded.pending,
        due_at = CASE WHEN {{ waits }} THEN q.due_at ELSE now() END,
        touched_at = greatest(q.touched_at, now()){{ more }}
    RETURNING instance_id, session_key, {{ is_open }} AS open
{%- endmacro %}
{% macro enqueue_events(source, more="") -%}
{{ enqueue(0, source, "q.pending > 0 OR q.owner IS NOT NULL OR q.held_until > now()",
    "owner IS NULL AND (held_until > now()) IS NOT TRUE", more, ", now()") }}
{%- endmacro %}
{% macro enqueue_messages(source) -%}
{{ enqueue(1, source, "q.pending > 0 OR q.owner IS NOT NULL", "owner IS NULL") }}
{%- endmacro %}

{# The events among the parameters that are echoes of what was sent. #}
{% macro echoes() -%}
echoes AS MATERIALIZED (
    SELECT e.n
    FROM unnest((SELECT %(echo_rows)s), %(echo_instances)s, %(echo_sessions)s, %(echo_ids)s)
        e(n, instance, session, id)
    WHERE (
        SELECT o.id FROM outbox o
        WHERE o.instance_id = e.instance AND hashtextextended(o.ref, 0) = hashtextextended(e.id, 0)
            AND o.ref IS NOT NULL AND o.ref = e.id AND (e.session IS NULL OR o.session_key = e.session)
        LIMIT 1
    ) IS NOT NULL
)
{%- endmacro %}

{# The id in "team:ID", NULL for any other text. #}
{% macro team_number(assignee) -%}
CASE WHEN {{ assignee }}::text ~ '^team:[0-9]{1,18}$' THEN substr({{ assignee }}, 6)::bigint END
{%- endmacro %}

{# The beginning of a lease: the oldest due queues, which a join with `m`, their rows, ends. #}
{% macro leased(kind) -%}
WITH candidates AS (
    SELECT kind, instance_id, session_key, due_at FROM queue
    WHERE kind = {{ kind }} AND pending > 0 AND due_at <= now() AND instance_id <> ALL(%(full)s)
        AND (held_until > now()) IS NOT TRUE
        AND (cardinality(%(full_users)s::text[]) = 0 OR NOT EXISTS (SELECT FROM channel_instance i
            WHERE i.id = queue.instance_id AND i.user_id = ANY(%(full_users)s)))
    ORDER BY due_at LIMIT %(count)s * 4
), ranked AS (
    SELECT c.*, coalesce(i.user_id, '') AS user_id,
        row_number() OVER (PARTITION BY c.instance_id ORDER BY c.due_at) AS of_instance,
        row_number() OVER (PARTITION BY i.user_id ORDER BY c.due_at) AS of_user
    FROM candidates c LEFT JOIN channel_instance i ON i.id = c.instance_id
), due AS (
    SELECT q.kind, q.instance_id, q.session_key, r.user_id FROM ranked r JOIN queue q
        ON q.kind = r.kind AND q.instance_id = r.instance_id AND q.session_key = r.session_key
    LEFT JOIN unnest(%(instances)s::bigint[], %(instance_capacity)s::int[]) AS ic(id, capacity)
        ON ic.id = r.instance_id
    LEFT JOIN unnest(%(users)s::text[], %(user_capacity)s::int[]) AS uc(id, capacity) ON uc.id = r.user_id
    WHERE r.of_instance <= coalesce(ic.capacity, %(per_instance)s)
        AND r.of_user <= coalesce(uc.capacity, %(per_user)s) AND q.pending + 0 > 0 AND q.due_at <= now()
    ORDER BY r.due_at LIMIT %(count)s FOR UPDATE OF q SKIP LOCKED
), taken AS (
    UPDATE queue q SET owner = %(owner)s, due_at = now() + interval '30 seconds'
    FROM due WHERE q.kind = due.kind AND q.instance_id = due.instance_id AND q.session_key = due.session_key
    RETURNING q.instance_id, q.session_key, due.user_id, q.offered, q.form, q.labels
)
SELECT (SELECT count(*) FROM candidates) > (SELECT count(*) FROM taken), leased.*,
    (SELECT set_config('synchronous_commit', 'off', true))
FROM (VALUES (1)) AS always LEFT JOIN (
{%- endmacro %}

{# Takes the events of `source` off their queues, and ends the lease after the last one or for a person. #}
{% macro complete(source) -%}
UPDATE queue q SET pending = q.pending - d.n, touched_at = greatest(q.touched_at, now()),
        owner = CASE WHEN q.owner = %(owner)s AND (d.last OR greatest(q.held_until, d.held) > now())
        THEN NULL ELSE q.owner END,
        due_at = CASE WHEN q.owner = %(owner)s AND (d.last OR greatest(q.held_until, d.held) > now())
        THEN greatest(now(), q.held_until, d.held) ELSE q.due_at END,
        held_until = greatest(q.held_until, d.held), handler_minutes = coalesce(d.minutes, q.handler_minutes),
        rounds = CASE WHEN NOT d.person THEN q.rounds END,
        replied_at = CASE WHEN NOT d.person THEN coalesce(q.replied_at, CASE WHEN d.replied THEN now() END) END
    FROM (
        SELECT instance_id, session_key, 0 kind, count(*) AS n,
            bool_or(last) AS last, bool_or(person) AS person, bool_or(replied) AS replied, max(minutes) AS minutes,
            now() + max(minutes) * interval '1 min' AS held
        FROM {{ source }} GROUP BY 1, 2 ORDER BY 1, 2
    ) d
    WHERE (q.kind, q.instance_id, q.session_key) = (d.kind, d.instance_id, d.session_key)
    RETURNING d.last AND q.pending > 0 AS more, d.*, q.held_until > now() AS is_held
{%- endmacro %}

-- name: enqueue_events
-- Stores the events that are new and no echoes. Of each: its instance, key and id, and whether its queue is to be
-- leased. A closed or snoozed conversation is open again with an event that reopens it. Index `inbox_event`, and the
-- primary key of `queue`.
{% set stays_away -%}
NOT EXISTS (SELECT FROM input i WHERE i.instance_id = q.instance_id AND i.session_key = q.session_key AND i.reopens)
{%- endset %}
WITH {{ echoes() }}, input AS (
    SELECT t.*
    FROM unnest((SELECT %(instances)s), %(sessions)s, %(keys)s, %(events)s, %(waits)s, %(reopens)s) WITH ORDINALITY
        AS t(instance_id, session_key, event_key, event, wait, reopens, n)
    JOIN channel_instance i ON i.id = t.instance_id WHERE t.n NOT IN (TABLE echoes)
), fresh AS (
    INSERT INTO inbox (instance_id, session_key, event_key, event, await_until)
    SELECT instance_id, session_key, event_key, event, now() + make_interval(secs => wait) FROM input ORDER BY n
    ON CONFLICT (instance_id, event_key) DO NOTHING
    RETURNING id, instance_id, session_key, event_key
), enqueued AS (
    {{ enqueue_events('fresh', more=", closed_at = CASE WHEN " + stays_away + " THEN q.closed_at END,
        opened_at = CASE WHEN q.closed_at IS NULL OR " + stays_away + " THEN coalesce(q.opened_at, now()) ELSE now() END,
        snoozed_until = CASE WHEN " + stays_away + " THEN q.snoozed_until END") }}
), reopened AS (
    SELECT q.instance_id, q.session_key, q.assignee, q.labels, NULL::timestamptz AS closed_at,
        NULL::timestamptz AS snoozed_until
    FROM queue q WHERE {{ listened }} AND q.kind = 0 AND (q.closed_at IS NOT NULL OR q.snoozed_until > now())
        AND (q.instance_id, q.session_key) IN (
            SELECT i.instance_id, i.session_key FROM input i JOIN fresh f USING (instance_id, event_key) WHERE i.reopens
        )
), told AS (
    {{ log("'conversation.changed'", "reopened", state_data(), ref="NULL::bigint") }}
), logged AS (
    {{ log("'message.received'", "fresh") }}
)
SELECT t.instance_id, t.event_key, t.id, q.open
FROM fresh t JOIN enqueued q ON q.instance_id = t.instance_id AND q.session_key = t.session_key ORDER BY t.id

-- name: find_events
-- The ids of events that were not stored; none where one was dropped as an echo. Index `inbox_event`.
SELECT t.n, i.id FROM unnest(%s, %s) WITH ORDINALITY AS t(instance_id, event_key, n)
JOIN channel_instance c ON c.id = t.instance_id
LEFT JOIN inbox i ON i.instance_id = t.instance_id AND i.event_key = t.event_key

-- name: take_result
-- Primary key.
UPDATE inbox SET taken = true WHERE id = %s AND result IS NOT NULL RETURNING result

-- name: call_outcome
-- Whether a message failed, whether it was withdrawn or erased, and its result. Primary key.
SELECT status = 2, event = '{}', result FROM inbox WHERE id = %s AND status <> 0

-- name: find_call
-- Index `inbox_event`.
SELECT id, session_key, event FROM inbox WHERE instance_id = %s AND event_key = %s

-- name: find_last_call
-- The latest of the later events of a session whose key begins with that of the first one. Index `inbox_by_session`.
SELECT id, event FROM inbox
WHERE instance_id = %s AND session_key = %s AND id > %s AND starts_with(event_key, %s) AND event <> '{}'
ORDER BY id DESC LIMIT 1

-- name: stop_waiting
-- Primary key.
UPDATE inbox SET await_until = CASE WHEN result IS NULL THEN NULL ELSE await_until END,
    taken = taken OR result IS NOT NULL WHERE id = %s RETURNING result

-- name: was_sent
-- Whether the instance sent a message that the platform knows by this id. Index `outbox_by_ref`.
SELECT EXISTS (
    SELECT FROM outbox WHERE instance_id = %(instance)s AND ref IS NOT NULL AND ref = %(ref)s
        AND hashtextextended(ref, 0) = hashtextextended(%(ref)s, 0)
)

-- name: is_followed
-- Whether an answer was sent in the session, or is on its way, or we wrote the message with which the thread began.
-- Primary key, and index `outbox_by_ref`.
SELECT EXISTS (
    SELECT FROM queue WHERE kind = 1 AND instance_id = %(instance)s AND session_key = %(session)s
) OR EXISTS (
    SELECT FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s
        AND pending > 0
) OR EXISTS (
    SELECT FROM outbox WHERE instance_id = %(instance)s AND ref IS NOT NULL AND ref = %(root)s
        AND hashtextextended(ref, 0) = hashtextextended(%(root)s, 0)
        AND (%(root_session)s::text IS NULL OR session_key = %(root_session)s)
)

-- name: lease_events
-- The oldest due queues, with their next rows. First in each row stands whether there were candidates that were not
-- leased; where none was leased, that is all. Indexes `queue_due`, then the primary key, then `inbox_by_queue` or
-- `outbox_by_queue`. `pending + 0` keeps the row that gets locked from being looked up in `queue_due`, and a kind that
-- is no constant keeps it from being looked for among all of its kind: as long as the planner takes the table for
-- empty, it would do so for each candidate.
{{ leased(0) }}
    SELECT t.instance_id, t.session_key, t.user_id, m.*,
    EXISTS (SELECT FROM tool_confirmation c
        WHERE c.instance_id = t.instance_id AND c.session_key = t.session_key AND c.closed_at IS NULL)
    OR EXISTS (SELECT FROM tool_approval a WHERE a.instance_id = t.instance_id AND a.session_key = t.session_key),
        t.offered, t.form, t.labels
    FROM taken t LEFT JOIN LATERAL (
        SELECT id, event, attempts, received_at, draft, failures FROM inbox r
        WHERE {{ queued_event('r', 't') }}
        ORDER BY r.id LIMIT 8
    ) m ON true
) leased ON true
ORDER BY leased.instance_id, leased.session_key, leased.id

-- name: recount_events
-- For a queue that claimed to have rows and has none: they were dropped. Primary key.
UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until), pending = (
    SELECT count(*) FROM inbox r
    WHERE {{ queued_event('r', 'queue') }}
) WHERE kind = 0 AND instance_id = %s AND session_key = %s AND owner = %s

-- name: lease_messages
-- As `lease_events`.
{{ leased(1) }}
    SELECT t.instance_id, t.session_key, t.user_id, m.*
    FROM taken t LEFT JOIN LATERAL (
        SELECT
            id, message, target, key, attempts, apology,
            coalesce(next_attempt_at, created_at) < now() - interval '7 days' AS late, trace
        FROM outbox r
        WHERE {{ queued_message('r', 't') }}
        ORDER BY r.id LIMIT 8
    ) m ON true
) leased ON true
ORDER BY leased.instance_id, leased.session_key, leased.id

-- name: recount_messages
-- As `recount_events`.
UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until), pending = (
    SELECT count(*) FROM outbox r
    WHERE {{ queued_message('r', 'queue') }}
) WHERE kind = 1 AND instance_id = %s AND session_key = %s AND owner = %s

-- name: renew_leases
-- Primary key.
UPDATE queue SET due_at = now() + interval '30 seconds'
FROM unnest(%s::bigint[], %s::text[]) AS h(instance_id, session_key)
WHERE kind = %s AND owner = %s AND queue.instance_id = h.instance_id AND queue.session_key = h.session_key

-- name: release_lease
-- Primary key.
UPDATE queue SET owner = NULL, due_at = greatest(now() + make_interval(secs => %s), held_until)
WHERE kind = %s AND instance_id = %s AND session_key = %s AND owner = %s

-- name: leases_left_behind
-- Index `queue_owned`.
SELECT instance_id, session_key FROM queue WHERE kind = %s AND owner = %s
    AND (instance_id, session_key) NOT IN (SELECT * FROM unnest(%s::bigint[], %s::text[]))

-- name: reclaim_leases
-- Primary key.
UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until)
FROM unnest(%s::bigint[], %s::text[]) AS h(id, key)
WHERE kind = %s AND owner = %s AND instance_id = h.id AND session_key = h.key

-- name: abandoned_leases
-- Index `queue_owned`.
SELECT l.owner FROM (
    SELECT owner FROM queue WHERE owner IS NOT NULL UNION SELECT owner FROM schedule WHERE owner IS NOT NULL
    UNION SELECT owner FROM link WHERE owner IS NOT NULL
) l
WHERE NOT EXISTS (
    SELECT FROM pg_locks k WHERE k.locktype = 'advisory' AND k.granted
        AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (k.classid::bigint << 32 | k.objid::bigint) = l.owner)

-- name: free_leases
-- Indexes `queue_owned` and `inbox_by_queue`.
WITH freed AS (
    UPDATE queue SET owner = NULL, due_at = greatest(now(), held_until) WHERE owner = ANY(%s)
    RETURNING kind, instance_id, session_key
)
UPDATE inbox SET attempts = attempts + 1 FROM (
    SELECT f.instance_id, f.session_key, (
        SELECT min(id) FROM inbox i
        WHERE {{ queued_event('i', 'f') }}
    ) AS first FROM freed f WHERE f.kind = 0
) head WHERE inbox.id = head.first

-- name: due_instances
-- Index `queue_due`.
SELECT DISTINCT instance_id FROM (
    SELECT instance_id FROM queue WHERE kind = %s AND pending > 0 AND due_at <= now() ORDER BY due_at LIMIT 10000
) due

-- name: complete_events
-- Of each event that has an outcome now: its id, whether a call takes the answer, whether the queue of its messages is
-- to be leased, whether its conversation has more, and whether the rest of the lease is void, as a person has the
-- conversation. Index `inbox_by_queue`, and the primary keys of `inbox` and `queue`; `status + 0` keeps the planner,
-- while it takes `inbox` for small, from reading all that is queued for each outcome. An outcome whose conversation
-- has an earlier event without one is left out: a database that died has forgotten that one's, and what was answered
-- in between must not be sent before it. An echo gets no messages: it came before the platform's id of what was sent
-- was on record. An event merged into another has that one's outcome; others are merged into themselves.
WITH {{ echoes() }}, r AS MATERIALIZED (
    SELECT t.*, (
        SELECT min(id) FROM inbox h
        WHERE {{ queued_event('h', 't') }}
    ) AS head
    FROM unnest((SELECT %(ids)s), %(main)s, %(instances)s, %(sessions)s, %(errors)s, %(results)s,
            %(lasts)s, %(prompts)s, %(persons)s, %(replied)s, %(minutes)s, %(answers)s, %(told)s)
        t(id, main, instance_id, session_key, error, result, last, prompt, person, replied, minutes, answer, told)
), done AS (
    UPDATE inbox i SET error = r.error, answer = r.answer, finished_at = now(),
        status = CASE WHEN r.error IS NULL THEN 1 ELSE 2 END,
        result = CASE WHEN i.await_until > now() THEN r.result END
    FROM r WHERE i.status + 0 = 0 AND r.head = r.main
        AND (i.id, i.instance_id, i.session_key) = (r.id, r.instance_id, r.session_key)
    RETURNING r.*, i.await_until > now() AND r.result IS NOT NULL AS awaited
), sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, trace, apology, prompt)
    SELECT instance_id, session_key, id, message, target, key, trace, error IS NOT NULL, prompt
    FROM unnest((SELECT %(events)s), %(messages)s, %(targets)s, %(keys)s, %(traces)s) WITH ORDINALITY
        m(event, message, target, key, trace, n)
    JOIN done ON id = event AND awaited IS NOT TRUE WHERE event NOT IN (TABLE echoes) ORDER BY n
    RETURNING instance_id, session_key
), outbound AS (
    {{ enqueue_messages('sent') }}
), inbound AS (
    {{ complete('done') }}
), logged AS (
    {{ log("string_to_table(told, ' ')", "done", "nullif(main, id)::text") }}
)
SELECT d.id, d.awaited, o.open, h.more, h.is_held AND NOT d.last,
    (SELECT CASE WHEN %(async)s THEN set_config('synchronous_commit', 'off', true) END),
    (SELECT add_usage(%(usage)s::jsonb, array_agg(id)) FROM done)
FROM done d LEFT JOIN outbound o USING (instance_id, session_key) LEFT JOIN inbound h USING (instance_id, session_key)
ORDER BY d.id

-- name: remove_events
-- Primary keys.
WITH gone AS (
    DELETE FROM inbox WHERE id = ANY(%(ids)s) AND instance_id = %(instance_id)s AND session_key = %(session_key)s
        AND status = 0
    RETURNING id, instance_id, session_key, %(last)s AS last, false AS person, false AS replied,
        NULL::bigint AS minutes
), sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT g.instance_id, g.session_key, g.id, m.message, %(target)s, m.key, true
    FROM unnest((SELECT %(messages)s), %(keys)s) WITH ORDINALITY AS m(message, key, n)
    JOIN gone g ON g.id = %(inbox_id)s
    ORDER BY m.n RETURNING instance_id, session_key
), outbound AS (
    {{ enqueue_messages('sent') }}
), inbound AS (
    {{ complete('gone') }}
), logged AS (
    {{ log("'message.failed'", "gone",
        "CASE WHEN %(error)s::text IS NOT NULL THEN json_build_object('error', %(error)s::text)::text END") }}
)
SELECT count(*) FROM gone

-- name: retry_event
-- Primary keys.
WITH event AS (
    UPDATE inbox SET failures = failures + 1, error = %s WHERE id = %s AND status = 0
    RETURNING instance_id, session_key
)
UPDATE queue q SET owner = NULL, due_at = greatest(now() + make_interval(secs => %s), q.held_until),
    touched_at = now() FROM event e
WHERE q.kind = 0 AND q.instance_id = e.instance_id AND q.session_key = e.session_key
    AND q.owner = %s

-- name: note_draft
-- Primary key.
UPDATE inbox SET draft = %s WHERE id = %s AND status = 0

-- name: note_offer
-- In the transaction of the outcome. Primary key.
UPDATE queue SET offered = %s WHERE kind = 0 AND instance_id = %s AND session_key = %s

-- name: note_form
-- In the transaction of the outcome. Primary key.
UPDATE queue SET form = %s WHERE kind = 0 AND instance_id = %s AND session_key = %s

-- name: note_reopened
-- In the transaction of the outcome. Primary key.
WITH changed AS (
    UPDATE queue SET closed_at = NULL, snoozed_until = NULL,
        opened_at = CASE WHEN closed_at IS NULL THEN opened_at ELSE (SELECT received_at FROM inbox WHERE id = %s) END
    WHERE kind = 0 AND instance_id = %s AND session_key = %s
        AND (closed_at IS NOT NULL OR snoozed_until IS NOT NULL)
    RETURNING instance_id, session_key, assignee, labels, closed_at, snoozed_until
), logged AS (
    {{ log("'conversation.changed'", "changed", state_data(), ref="NULL::bigint") }}
)
SELECT FROM changed

-- name: note_change
-- In the transaction of the outcome. What changes nothing is no event. A team is named by its id or its name; an
-- assignee that is no team here stays as the resource wrote it. Primary keys, and index `team_by_name`.
WITH wanted AS (
    SELECT kind, instance_id, session_key, assignee AS former,
        CASE WHEN %(assign)s::text IS NULL THEN assignee ELSE coalesce(
            (SELECT 'team:' || id FROM team WHERE id = {{ team_number('%(assign)s') }}),
            (SELECT 'team:' || id FROM team WHERE lower(name) = lower(substr(%(assign)s, 6))
                AND starts_with(%(assign)s, 'team:') ORDER BY id LIMIT 1),
            nullif(%(assign)s, '')
        ) END AS assignee,
        nullif(ARRAY(
            SELECT DISTINCT label FROM unnest(coalesce(labels, '{}') || %(added)s::text[]) label
            WHERE label <> ALL(%(removed)s::text[]) ORDER BY label LIMIT 50
        ), '{}') AS labels,
        CASE WHEN %(close)s THEN coalesce(closed_at, now()) ELSE closed_at END AS closed_at
    FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s FOR UPDATE
), changed AS (
    UPDATE queue q SET assignee = w.assignee, labels = w.labels, closed_at = w.closed_at FROM wanted w
    WHERE (q.kind, q.instance_id, q.session_key) = (w.kind, w.instance_id, w.session_key)
        AND (q.assignee, q.labels, q.closed_at) IS DISTINCT FROM (w.assignee, w.labels, w.closed_at)
    RETURNING q.instance_id, q.session_key, q.assignee, q.labels, q.closed_at, q.snoozed_until, w.former
), logged AS (
    {{ log("'conversation.changed'", "changed", state_data(", 'resource', %(resource)s::text"),
        ref="%(inbox)s::bigint") }}
), noted AS (
    {{ note_assigned("changed") }}
)
UPDATE inbox SET change = %(words)s WHERE id = %(inbox)s

-- name: album
-- Index `inbox_by_queue`.
SELECT id, event, attempts, received_at, draft, failures, extract(epoch FROM now() - received_at)::float8
FROM inbox WHERE (inbox.instance_id, inbox.session_key || '', inbox.status) = (%(instance)s, %(session)s, 0)
    AND hashtextextended(inbox.session_key, 0) = hashtextextended(%(session)s, 0)
    AND position(%(album)s IN event) > 0
ORDER BY id LIMIT 100

-- name: count_round
-- Over `most` rounds each further event counts as all of them, so that the window must pass without an event. Primary
-- keys.
WITH {{ echoes() }}, event AS (
    SELECT i.received_at AS at, coalesce(q.replied_at < i.received_at, false) AS begins, array(
        SELECT r FROM unnest(q.rounds) r WHERE r > i.received_at - make_interval(secs => %(window)s)
    ) AS recent
    FROM inbox i JOIN queue q ON q.kind = %(kind)s AND q.instance_id = i.instance_id AND q.session_key = %(session)s
    WHERE i.id = %(id)s
), counted AS (
    SELECT at, begins, CASE WHEN begins THEN recent || at ELSE recent END AS rounds FROM event
)
UPDATE queue q SET replied_at = CASE WHEN c.begins THEN NULL ELSE q.replied_at END,
    rounds = CASE WHEN cardinality(c.rounds) > %(most)s THEN array_fill(c.at, ARRAY[%(most)s + 1]) ELSE c.rounds END
FROM counted c WHERE q.kind = %(kind)s AND q.instance_id = %(instance)s AND q.session_key = %(session)s
RETURNING cardinality(q.rounds), EXISTS (SELECT FROM echoes)

-- name: note_reply
-- Primary key.
INSERT INTO queue AS q (kind, instance_id, session_key, pending, replied_at)
VALUES (2, %s, %s, 0, now())
ON CONFLICT (kind, instance_id, session_key) DO UPDATE
SET replied_at = coalesce(q.replied_at, excluded.replied_at), touched_at = now()

-- name: find_changed_event
-- The message that a change concerns, while it waits or is worked on; none for a change that was applied already.
-- Indexes `inbox_by_queue` and `inbox_event`.
SELECT id, session_key, draft FROM inbox
WHERE instance_id = %(instance)s AND (%(session)s::text = '' OR session_key = %(session)s)
    AND status = 0 AND event_key <> %(key)s AND position(%(message)s IN event) > 0
    AND NOT EXISTS (SELECT FROM inbox WHERE instance_id = %(instance)s AND event_key = %(key)s)
ORDER BY id DESC LIMIT 1 FOR UPDATE

-- name: withdraw_event
-- Takes a message out of its conversation; of its row stays what a redelivery is recognised by. Primary keys.
WITH gone AS (
    UPDATE inbox SET status = 1, event = '{}', session_key = 'sha256:', draft = NULL,
        error = NULL, finished_at = now()
    WHERE id = %(id)s AND status = 0
    RETURNING instance_id, %(session_key)s::text AS session_key, false AS last, true AS person,
        false AS replied, NULL::int AS minutes
), completed AS (
    {{ complete('gone') }}
)
SELECT count(*) FROM gone

-- name: copy_draft
-- Index `inbox_event`.
UPDATE inbox SET draft = %s WHERE instance_id = %s AND event_key = %s

-- name: event_of
-- Primary key.
SELECT event FROM inbox WHERE id = %s AND event <> '{}'

-- name: settle_event
-- Ends the wait for the rest of a message. Primary keys.
WITH settled AS (
    UPDATE inbox SET event = %s WHERE id = %s AND status = 0 RETURNING instance_id, session_key
)
UPDATE queue q SET due_at = now() FROM settled s
WHERE q.kind = 0 AND q.instance_id = s.instance_id AND q.session_key = s.session_key
    AND q.owner IS NULL AND q.due_at > now() AND (q.held_until > now()) IS NOT TRUE

-- name: rerun_event
-- Primary keys.
WITH message AS (
    UPDATE inbox SET status = 0, event = %(event)s, attempts = 0, failures = 0, error = NULL,
        answer = NULL, change = NULL, result = NULL, draft = NULL, await_until = NULL, taken = false, finished_at = NULL
    WHERE id = %(id)s RETURNING instance_id, session_key
)
{{ enqueue_events('message') }}

-- name: finish_messages
-- A message is found by its id and its key: a database that died may give the id of a message that it forgot to
-- another. Primary keys; `NOT IN` keeps the planner from an index of what waits, which it would read through for each
-- message that was sent.
WITH r AS (
    SELECT * FROM unnest((SELECT %(ids)s), %(keys)s, %(statuses)s, %(refs)s, %(errors)s, %(lasts)s)
        AS t(id, key, status, ref, error, last)
), done AS (
    UPDATE outbox o SET ref = r.ref, last_error = coalesce(r.error, o.last_error),
        status = CASE WHEN o.delivery_state = -1 THEN 2 ELSE r.status END,
        attempts = o.attempts + 1, next_attempt_at = NULL, finished_at = now()
    FROM r WHERE o.id = r.id AND o.key = r.key AND o.status NOT IN (1, 2)
    RETURNING o.id, o.instance_id, o.session_key, o.status, o.inbox_id, o.send_id, r.error, r.last
), completed AS (
    UPDATE queue q SET pending = q.pending - d.n, touched_at = now(),
        owner = CASE WHEN q.owner = %(owner)s AND (d.last)
        THEN NULL ELSE q.owner END,
        due_at = CASE WHEN q.owner = %(owner)s AND (d.last)
        THEN now() ELSE q.due_at END
    FROM (
        SELECT instance_id, session_key, 1 kind, count(*) AS n,
            bool_or(last) AS last
        FROM done GROUP BY 1, 2 ORDER BY 1, 2
    ) d
    WHERE (q.kind, q.instance_id, q.session_key) = (d.kind, d.instance_id, d.session_key)
    RETURNING d.last AND q.pending > 0 AS more
), logged AS (
    {{ log("CASE WHEN status = 1 THEN 'delivery.sent' ELSE 'delivery.dead' END", "done",
        "CASE WHEN error::text IS NOT NULL THEN json_build_object('reason', error::text)::text END",
        condition="AND coalesce(inbox_id, send_id) IS NOT NULL") }}
)
SELECT bool_or(more) FROM completed

-- name: retry_message
-- Primary keys.
WITH message AS (
    UPDATE outbox SET attempts = attempts + 1, last_error = %s, delivery_state = NULL,
        next_attempt_at = now() + make_interval(secs => %s)
    WHERE id = %s AND key = %s AND status = 0 RETURNING instance_id, session_key, next_attempt_at
)
UPDATE queue q SET owner = NULL, due_at = m.next_attempt_at, touched_at = now() FROM message m
WHERE q.kind = 1 AND q.instance_id = m.instance_id AND q.session_key = m.session_key
    AND q.owner = %s

-- name: note_status
-- Index `outbox_by_ref`.
WITH noted AS (
    UPDATE outbox SET status = CASE WHEN %(failed)s THEN 2 ELSE status END,
        last_error = CASE WHEN %(failed)s THEN %(detail)s ELSE last_error END,
        finished_at = CASE WHEN %(failed)s THEN now() ELSE finished_at END,
        delivery_state = greatest(delivery_state, nullif(%(reached)s, 0))
    WHERE instance_id = %(instance)s AND hashtextextended(ref, 0) = hashtextextended(%(ref)s, 0) AND ref = %(ref)s
        AND status = 1 AND (%(failed)s OR coalesce(delivery_state, 0) < %(reached)s)
    RETURNING id, instance_id, session_key
), logged AS (
    {{ log("'delivery.dead'", "noted",
        "CASE WHEN %(detail)s::text IS NOT NULL THEN json_build_object('reason', %(detail)s::text)::text END",
        condition="AND %(failed)s") }}
)
SELECT FROM noted

-- name: note_early_status
-- A message that is just being sent, and of which the platform says already what became of it. Its taking may be
-- recorded while this waits for the row. A failure may be that of an earlier try. Index `outbox_by_instance`.
WITH early AS (
    SELECT id FROM outbox WHERE instance_id = %(instance)s AND key = %(key)s AND status = 0
        AND (attempts = 0 OR NOT %(failed)s)
)
UPDATE outbox o SET
    status = CASE WHEN %(failed)s AND o.status = 1 THEN 2 ELSE o.status END,
    last_error = CASE WHEN %(failed)s THEN %(detail)s ELSE o.last_error END,
    finished_at = CASE WHEN %(failed)s AND o.status = 1 THEN now() ELSE o.finished_at END,
    delivery_state = CASE WHEN %(failed)s THEN -1 ELSE greatest(o.delivery_state, %(reached)s) END
FROM early e WHERE o.id = e.id AND o.key = %(key)s AND o.status <> 2

-- name: recognise_message
-- A message that waits to be sent again, and of which the platform says that it has it. Not while a worker holds the
-- queue: it may be sending it. Indexes `outbox_by_instance` and `outbox_by_queue`, and the primary key of `queue`.
WITH tried AS MATERIALIZED (
    SELECT 1 AS kind, instance_id, session_key FROM outbox
    WHERE instance_id = %(instance)s AND key = %(key)s AND status = 0 AND attempts > 0
), free AS (
    SELECT q.instance_id, q.session_key FROM tried JOIN queue q USING (kind, instance_id, session_key)
    WHERE q.owner IS NULL FOR UPDATE OF q
), message AS (
    UPDATE outbox o SET status = 1, ref = %(ref)s, next_attempt_at = NULL, finished_at = now(),
        delivery_state = nullif(%(reached)s, 0) FROM free f
    WHERE {{ queued_message('o', 'f') }}
        AND o.key = %(key)s
    RETURNING o.id, o.instance_id, o.session_key
), logged AS (
    {{ log("'delivery.sent'", "message") }}
)
UPDATE queue q SET pending = q.pending - 1, due_at = now(), touched_at = now() FROM message m
WHERE q.kind = 1 AND q.instance_id = m.instance_id AND q.session_key = m.session_key

-- name: replay_message
-- Primary keys.
WITH message AS (
    UPDATE outbox SET status = 0, attempts = 0, next_attempt_at = now(), finished_at = NULL,
        delivery_state = NULL
    WHERE id = %(message)s AND instance_id = %(instance)s AND status = 2 RETURNING instance_id, session_key
)
{{ enqueue_messages('message') }}

-- name: drop_message
-- Primary keys.
WITH message AS (
    DELETE FROM outbox WHERE id = %s AND instance_id = %s RETURNING instance_id, session_key, status
), completed AS (
    UPDATE queue q SET pending = q.pending - 1,
        due_at = CASE WHEN q.owner IS NULL THEN now() ELSE q.due_at END FROM message m
    WHERE m.status = 0 AND q.kind = 1 AND q.instance_id = m.instance_id
        AND q.session_key = m.session_key
)
SELECT count(*) FROM message

-- name: list_messages
-- Index `outbox_by_instance`.
SELECT id, status, attempts, last_error, created_at,
    CASE WHEN status = 0 THEN coalesce(next_attempt_at, created_at) END, count(*) OVER ()
FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s) ORDER BY id LIMIT %s OFFSET %s

-- name: count_messages
-- Index `outbox_by_instance`.
SELECT count(*) FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s)

-- name: prompts_of_event
-- Index `outbox_by_event`.
SELECT message, target, ref FROM outbox
WHERE inbox_id = %s AND prompt AND instance_id = %s AND status = 1 AND ref IS NOT NULL ORDER BY id DESC

-- name: free_idempotency_key
-- Index `send_idempotency`.
UPDATE send SET idempotency_key = NULL
WHERE instance_id = %s AND idempotency_key = %s AND created_at <= now() - interval '24 hours'

-- name: find_idempotency_key
-- Index `send_idempotency`.
SELECT id, session_id, content FROM send
WHERE instance_id = %s AND idempotency_key = %s AND created_at > now() - interval '24 hours'

-- name: next_send_id
SELECT nextval(pg_get_serial_sequence('send', 'id'))

-- name: newest_of_session
-- The newest messages of a session, in both directions: five of a person, as they may come out of order. Indexes
-- `inbox_by_session` and `send_by_session`, and the primary key of `queue`. Last: the user who has the conversation.
SELECT i.event, i.received_at, now(), s.content, (
    SELECT held_by FROM queue q WHERE q.kind = 0 AND q.instance_id = t.instance_id
        AND q.session_key = %(session_key)s AND q.held_until > now() AND q.held_by_until = q.held_until
) FROM (SELECT %(instance_id)s::bigint AS instance_id) t
LEFT JOIN LATERAL (
    SELECT id, event, received_at FROM inbox
    WHERE instance_id = t.instance_id AND session_key = %(session_key)s ORDER BY id DESC LIMIT 5
) i ON true
LEFT JOIN LATERAL (
    SELECT content FROM send
    WHERE instance_id = t.instance_id AND session_key = %(session_key)s ORDER BY id DESC LIMIT 1
) s ON true ORDER BY i.id DESC

-- name: send_answer_again
-- Index `outbox_by_event`, and the primary key of `queue`.
WITH message AS (
    UPDATE outbox SET status = 0, attempts = 0, next_attempt_at = now(), finished_at = NULL
    WHERE inbox_id = %(id)s AND instance_id = %(instance)s AND status = 2
    RETURNING instance_id, session_key
)
{{ enqueue_messages('message') }}

-- name: send_sent_first_again
-- Index `outbox_by_send`, and the primary key of `queue`.
WITH message AS (
    UPDATE outbox SET status = 0, attempts = 0, next_attempt_at = now(), finished_at = NULL
    WHERE send_id = %(id)s AND instance_id = %(instance)s AND status = 2
    RETURNING instance_id, session_key
)
{{ enqueue_messages('message') }}

-- name: untaken_answers
-- Index `inbox_awaited`.
SELECT id FROM inbox WHERE await_until < now() - interval '2 seconds' AND NOT taken AND result IS NOT NULL
ORDER BY await_until LIMIT 100

-- name: take_untaken_answers
-- Primary key.
UPDATE inbox SET taken = true WHERE id IN (
    SELECT id FROM inbox WHERE id = ANY(%s) AND NOT taken FOR UPDATE SKIP LOCKED
) RETURNING id, instance_id, session_key, result

-- name: send_untaken_answer
-- Primary key of `queue`.
WITH sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT %(instance_id)s, %(session_key)s, %(inbox_id)s, m.message, %(target)s, m.key, %(apology)s
    FROM unnest((SELECT %(messages)s), %(keys)s) WITH ORDINALITY AS m(message, key, n)
    ORDER BY m.n RETURNING instance_id, session_key
)
{{ enqueue_messages('sent') }}

-- name: give_up_untaken_answer
-- Primary key.
WITH failed AS (
    UPDATE inbox SET status = 2, error = %s WHERE id = %s RETURNING id, instance_id, session_key
)
{{ log("'message.failed'", "failed") }}

-- name: enqueue_pushes
-- Primary keys.
WITH moved AS (
    INSERT INTO event_position (reader, position) VALUES ('subscriptions', %(until)s)
    ON CONFLICT (reader) DO UPDATE SET position = excluded.position WHERE event_position.position = %(position)s
    RETURNING position
), pushed AS (
    INSERT INTO outbox (instance_id, session_key, message, target, key)
    SELECT t.instance_id, t.session_key, t.message, t.target, t.key
    FROM unnest((SELECT %(instances)s), %(sessions)s, %(messages)s, %(targets)s, %(keys)s) WITH ORDINALITY
        AS t(instance_id, session_key, message, target, key, n)
    JOIN channel_instance i ON i.id = t.instance_id WHERE EXISTS (SELECT FROM moved) ORDER BY t.n
    RETURNING instance_id, session_key
), enqueued AS (
    {{ enqueue_messages('pushed') }}
)
SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM enqueued)

-- name: hold_conversation
-- A person has the conversation until `queue.held_until`, and is its assignee. `queue.held_by` names that person while
-- `held_by_until` is the same time. Where a resource asked for a person since, nobody is named. A message that is being
-- worked on is finished: its lease goes on. Primary key.
WITH before AS (
    SELECT kind, instance_id, session_key, assignee FROM queue
    WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s FOR UPDATE
), held AS (
    UPDATE queue q SET held_until = now() + make_interval(mins => %(minutes)s), handler_minutes = %(minutes)s,
        held_by = %(user)s, held_by_until = now() + make_interval(mins => %(minutes)s),
        due_at = CASE WHEN owner IS NULL THEN now() + make_interval(mins => %(minutes)s) ELSE due_at END,
        assignee = coalesce(%(assignee)s, q.assignee)
    FROM before b WHERE (q.kind, q.instance_id, q.session_key) = (b.kind, b.instance_id, b.session_key)
    RETURNING q.instance_id, q.session_key, q.assignee, q.labels, q.closed_at, q.snoozed_until,
        b.assignee IS DISTINCT FROM q.assignee AS is_assigned
), logged AS (
    {{ log("'conversation.handler'", "held", "json_build_object('handler', 'person', 'minutes', %(minutes)s::int)::text",
        ref="NULL::bigint") }}
), told AS (
    {{ log("'conversation.changed'", "held", state_data(", 'userId', %(user)s::text"), condition="AND is_assigned",
        ref="NULL::bigint") }}
)
SELECT FROM held

-- name: hand_over_conversation
-- A resource asks for a person. Primary key.
WITH held AS (
    UPDATE queue SET held_until = greatest(held_until, now() + make_interval(mins => %(minutes)s)),
        handler_minutes = %(minutes)s,
        due_at = CASE WHEN owner IS NULL
            THEN greatest(due_at, held_until, now() + make_interval(mins => %(minutes)s)) ELSE due_at END
    WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s
    RETURNING instance_id, session_key
), logged AS (
    {{ log("'conversation.handler'", "held", "json_build_object('handler', 'person', 'minutes', %(minutes)s::int)::text",
        ref="NULL::bigint") }}
)
SELECT FROM held

-- name: change_conversation
-- NULL leaves a column as it is; '' and '{}' empty it. Who has the conversation passes it on with the assignee: a user has
-- it from then on, with a team or nobody it wants a person. Primary key.
WITH wanted AS (
    SELECT kind, instance_id, session_key, assignee AS former,
        CASE WHEN %(assignee)s::text IS NULL THEN assignee ELSE nullif(%(assignee)s, '') END AS assignee,
        CASE WHEN %(labels)s::text[] IS NULL THEN labels ELSE nullif(%(labels)s, '{}') END AS labels,
        CASE WHEN %(state)s::text IS NULL THEN closed_at
            WHEN %(state)s = 'closed' THEN coalesce(closed_at, now()) END AS closed_at,
        CASE WHEN %(state)s::text IS NULL THEN snoozed_until
            WHEN %(state)s = 'snoozed' THEN %(until)s::timestamptz END AS snoozed_until
    FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s FOR UPDATE
), changed AS (
    UPDATE queue q SET assignee = w.assignee, labels = w.labels, closed_at = w.closed_at,
        snoozed_until = w.snoozed_until,
        opened_at = CASE WHEN q.closed_at IS NOT NULL AND w.closed_at IS NULL THEN now() ELSE q.opened_at END,
        held_by = CASE WHEN q.assignee IS DISTINCT FROM w.assignee AND q.held_until > now() THEN
            CASE WHEN w.assignee LIKE 'user:%%' THEN substr(w.assignee, 6) END ELSE q.held_by END,
        held_by_until = CASE WHEN q.assignee IS DISTINCT FROM w.assignee AND q.held_until > now() THEN
            CASE WHEN w.assignee LIKE 'user:%%' THEN q.held_until END ELSE q.held_by_until END
    FROM wanted w
    WHERE (q.kind, q.instance_id, q.session_key) = (w.kind, w.instance_id, w.session_key)
        AND (q.assignee, q.labels, q.closed_at, q.snoozed_until)
            IS DISTINCT FROM (w.assignee, w.labels, w.closed_at, w.snoozed_until)
    RETURNING q.instance_id, q.session_key, q.assignee, q.labels, q.closed_at, q.snoozed_until, w.former
), logged AS (
    {{ log("'conversation.changed'", "changed", state_data(", 'userId', %(user)s::text"), ref="NULL::bigint") }}
), noted AS (
    {{ note_assigned("changed", "%(user)s::text") }}
)
SELECT (SELECT count(*) FROM changed) FROM wanted

-- name: add_note
-- Holds the row of the queue, so that an erasure waits, and finds the note. Primary key.
WITH conversation AS (
    SELECT instance_id, session_key FROM queue
    WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s FOR SHARE
), note AS (
    INSERT INTO conversation_note (instance_id, session_key, user_id, text, mentions)
    SELECT instance_id, session_key, %(user)s, %(text)s, %(mentions)s FROM conversation
    RETURNING id, instance_id, session_key, created_at, user_id, mentions
), logged AS (
    {{ log("'conversation.note'", "note",
        "json_build_object('messageId', 'note-' || id, 'userId', user_id, 'mentions', mentions)::text",
        ref="NULL::bigint") }}
), noted AS (
    INSERT INTO notification_cause (kind, instance_id, session_key, ref, actor, named)
    SELECT 'mentioned', instance_id, session_key, id, user_id, mentions FROM note WHERE cardinality(mentions) > 0
)
SELECT id, created_at FROM note

-- name: hand_back_conversation
-- Primary key.
WITH held AS (
    SELECT instance_id, session_key FROM queue
    WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s
    AND held_until > now()
), logged AS (
    {{ log("'conversation.handler'", "held", "json_build_object('handler', 'resource')::text", ref="NULL::bigint") }}
)
UPDATE queue SET held_until = NULL, handler_minutes = NULL, held_by = NULL, held_by_until = NULL,
    due_at = CASE WHEN owner IS NULL AND held_until > now() THEN now() ELSE due_at END
WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s

{# For `send`: whether a person has the conversation, for how many minutes from now on, and until when; the latter of a
   conversation that has no row yet. #}
{% set had = "queue.held_until > now()" %}
{% set is_held -%}
({{ had }} OR %(taken_by)s::text IS NOT NULL) AND (SELECT author = 'person' FROM fresh)
{%- endset %}
{% set minutes -%}
CASE WHEN {{ had }} THEN queue.handler_minutes ELSE {{ handler_minutes }} END
{%- endset %}
{% set end -%}
now() + make_interval(mins => {{ minutes }})
{%- endset %}
{% set named -%}
{{ had }} AND queue.held_by_until = queue.held_until
{%- endset %}
{# Somebody else has it, who took it over in the moment in which this message was written. #}
{% set keeps -%}
{{ named }} AND queue.held_by <> '{{ nobody }}' AND NOT (%(forced)s AND %(taken_by)s::text IS NOT NULL)
{%- endset %}
{% set taken_until -%}
CASE WHEN %(taken_by)s::text IS NOT NULL THEN now() + make_interval(mins => {{ handler_minutes }}) END
{%- endset %}

-- name: lock_claim
-- Whoever answers a conversation waits for others who just do: the statement behind it sees what they stored.
SELECT pg_advisory_xact_lock(hashtextextended(%(session_key)s, %(instance_id)s))

-- name: send
-- Stores a message, unless its idempotency key is taken, and its conversation where that is new. If a person wrote it
-- who has the conversation or takes it over with it, its queued events count as answered by them, but for one that is
-- being worked on, and the time of the person begins anew. Who takes it over is its assignee. Where another user has it,
-- nothing is stored, and that user is named, unless the sender takes it from them (`forced`). Indexes
-- `send_idempotency` and `inbox_by_queue`, and the primary keys of `channel_instance` and `queue`.
WITH before AS MATERIALIZED (
    SELECT assignee, held_by, held_until, held_until > now() AND held_by_until = held_until
        AND held_by <> %(taken_by)s AND held_by <> '{{ nobody }}' AND NOT %(forced)s AS is_of_other
    FROM queue WHERE kind = 0 AND instance_id = %(instance_id)s AND session_key = %(session_key)s
), fresh AS (
    INSERT INTO send (id, instance_id, session_key, session_id, idempotency_key, content, author, user_id)
    OVERRIDING SYSTEM VALUE
    SELECT %(id)s, id, %(session_key)s, %(session_id)s, %(idempotency_key)s, %(content)s, %(author)s, %(user)s
    FROM channel_instance WHERE id = %(instance_id)s AND NOT EXISTS (SELECT FROM before WHERE is_of_other)
    ON CONFLICT (instance_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, instance_id, session_key, author
), sent AS (
    INSERT INTO outbox (instance_id, session_key, send_id, message, target, key, trace, apology, prompt)
    SELECT f.instance_id, f.session_key, f.id, m.message, %(target)s, m.key, %(trace)s, false, false
    FROM fresh f CROSS JOIN unnest((SELECT %(messages)s), %(keys)s) WITH ORDINALITY AS m(message, key, n) ORDER BY m.n
    RETURNING instance_id, session_key
), outbound AS (
    {{ enqueue_messages('sent') }}
), answered AS (
    UPDATE inbox i SET status = 1, finished_at = now() FROM (
        SELECT queue.*, (
            SELECT h.id FROM inbox h
            WHERE {{ queued_event('h', 'queue') }}
            AND queue.owner IS NOT NULL AND queue.due_at > now() ORDER BY h.id LIMIT 1
        ) AS under_way FROM queue
        WHERE queue.kind = 0 AND queue.instance_id = %(instance_id)s
        AND queue.session_key = %(session_key)s AND {{ is_held }}
    ) q
    WHERE {{ queued_event('i', 'q') }}
    AND i.id IS DISTINCT FROM q.under_way RETURNING i.id, i.instance_id, i.session_key
), told AS (
    {{ log("'message.answered'", "answered",
        "json_build_object('messageId', 'send-' || %(id)s, 'author', 'person')::text") }}
), conversation AS (
    INSERT INTO queue (
        kind, instance_id, session_key, pending, due_at, offered, held_until, handler_minutes, held_by, held_by_until,
        assignee
    )
    SELECT 0, instance_id, session_key, 0, COALESCE({{ taken_until }}, now()), %(offered)s,
        {{ taken_until }}, CASE WHEN %(taken_by)s::text IS NOT NULL THEN {{ handler_minutes }} END, %(taken_by)s,
        {{ taken_until }}, %(assignee)s FROM fresh
    ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET touched_at = greatest(queue.touched_at, now()),
        offered = excluded.offered,
        pending = queue.pending - (SELECT count(*) FROM answered),
        held_until = CASE WHEN {{ is_held }} THEN {{ end }} ELSE queue.held_until END,
        handler_minutes = CASE WHEN {{ is_held }} THEN {{ minutes }} ELSE queue.handler_minutes END,
        held_by = CASE WHEN {{ is_held }} AND NOT COALESCE({{ keeps }}, false) THEN %(taken_by)s ELSE queue.held_by END,
        held_by_until = CASE WHEN {{ is_held }} AND (COALESCE({{ named }}, false) OR %(taken_by)s::text IS NOT NULL) THEN {{ end }}
            ELSE queue.held_by_until END,
        due_at = CASE WHEN {{ is_held }} AND queue.owner IS NULL THEN {{ end }} ELSE queue.due_at END,
        assignee = CASE WHEN COALESCE({{ keeps }}, false) THEN queue.assignee
            ELSE coalesce(excluded.assignee, queue.assignee) END
    RETURNING instance_id, session_key, handler_minutes, held_until > now() AS is_held,
        assignee, labels, closed_at, snoozed_until
), assigned AS (
    {{ log("'conversation.changed'", "conversation", state_data(", 'userId', %(taken_by)s::text"),
        condition="AND %(assignee)s::text IS NOT NULL AND assignee IS DISTINCT FROM (SELECT assignee FROM before)",
        ref="NULL::bigint") }}
), held_on AS (
    {{ log("'conversation.handler'", "conversation",
        "json_build_object('handler', 'person', 'minutes', handler_minutes)::text",
        condition="AND is_held AND (SELECT author = 'person' FROM fresh)", ref="NULL::bigint") }}
)
SELECT f.id, o.open, b.held_by, b.held_until FROM (VALUES (1)) AS always
LEFT JOIN before b ON b.is_of_other LEFT JOIN fresh f ON true LEFT JOIN outbound o USING (instance_id, session_key)
