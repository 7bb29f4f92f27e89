-- The statements of reports. Column `status` of `inbox`: 0 queued, 1 done, 2 failed. Column `kind` of `queue`: 0 inbound;
-- of `report_event`: 0 handed to people, 1 closed, 2 an agent asked for people.

-- name: begin_reports
-- With the last day, of which the rows are found from the newest one back by the primary key of `inbox`.
INSERT INTO report_position (id, until, inbox_id)
SELECT 1, now() - interval '1 day', coalesce((
    SELECT id FROM inbox WHERE received_at < now() - interval '1 day 1 minute' ORDER BY id DESC LIMIT 1
), 0) WHERE NOT EXISTS (SELECT FROM report_position) ON CONFLICT DO NOTHING

-- name: lock_reports
-- From when to when rows are to be counted now, the id of the inbox behind which the received ones stand, and whether
-- more is to be counted after that.
SELECT until, inbox_id, least(settled, until + interval '{{ step }}'), settled > until + interval '{{ step }}'
FROM (SELECT p.*, {{ settled }} AS settled FROM report_position p FOR UPDATE OF p SKIP LOCKED) p

{% macro within(column) -%}
{{ column }} > %(since)s AND {{ column }} <= %(until)s
{%- endmacro %}
{% macro day(column) -%}
({{ column }} AT TIME ZONE 'UTC')::date
{%- endmacro %}
{% macro same_session(a, b) -%}
{{ a }}.instance_id = {{ b }}.instance_id AND {{ a }}.session_key = {{ b }}.session_key
{%- endmacro %}
{% set by_agent = "answer LIKE '%%\"author\":\"resource\"}'" %}

{# Adds the rows of the CTE `counted`: days, instances, colleagues, measures and counts. #}
{% set add_counted -%}
INSERT INTO report AS r (day, instance_id, user_id, measure, count)
SELECT day, instance_id, user_id, measure, sum(count) FROM counted
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (day, instance_id, user_id, measure) DO UPDATE SET count = r.count + excluded.count
{%- endset %}

-- name: count_day_messages
-- Neither reactions nor presses of thumbs are messages. An event begins with session and sender. Primary keys, and the
-- indexes of the failures.
WITH message AS MATERIALIZED (
    SELECT {{ day("received_at") }} AS day, instance_id,
        substring(event FROM '^\{"session":"(?:[^"\\]|\\.)*","sender":"((?:[^"\\]|\\.)+)"') AS sender
    FROM inbox WHERE id > %(inbox)s AND {{ within("received_at") }}
    AND position(',"reaction":"' IN event) = 0 AND position(',"choice":"{{ thumb }}' IN event) = 0
), person AS (
    INSERT INTO report_person (day, instance_id, digest)
    SELECT DISTINCT day, instance_id, sha256(convert_to(sender, 'UTF8')) FROM message WHERE sender IS NOT NULL
    ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING day, instance_id
), counted AS (
    SELECT day, instance_id, '' AS user_id, {{ m.MESSAGES }} AS measure, 1 AS count FROM message
    UNION ALL SELECT day, instance_id, '', {{ m.PEOPLE }}, 1 FROM person
    UNION ALL SELECT {{ day("at") }}, instance_id, '', {{ m.FAILED }}, 1 FROM ({{ failures }}) given_up
)
{{ add_counted }}

{# The latest answer in the session of `s` until `since`: of a resource, or of a colleague. #}
{% macro earlier_answer(s) -%}
greatest((
        SELECT p.created_at FROM send p WHERE {{ same_session("p", s) }} AND p.created_at <= %(since)s
        ORDER BY p.id DESC LIMIT 1
    ), (
        SELECT p.finished_at FROM inbox p WHERE {{ same_session("p", s) }} AND p.finished_at <= %(since)s
        AND p.status = 1 AND p.{{ by_agent }} ORDER BY p.id DESC LIMIT 1
    ))
{%- endmacro %}
{# The time from `opened_at` to `at` of each row: added to the sum, and counted in its bucket. #}
{% macro times(rows, sum, first_bucket) -%}
SELECT day, instance_id, user_id, t.* FROM {{ rows }} CROSS JOIN LATERAL (
        SELECT extract(epoch FROM at - opened_at)::float8 AS seconds
    ) s CROSS JOIN LATERAL (VALUES
        ({{ sum }}, round(1000 * seconds)::bigint), ({{ first_bucket }} + width_bucket(seconds, %(bounds)s), 1)
    ) AS t(measure, count) WHERE opened_at IS NOT NULL
{%- endmacro %}

-- name: count_answers
-- An answer is that of a resource to a message, or what a colleague or a resource sends after a message that nobody
-- has answered: of several in a row the first. A conversation is open from `opened_at` until it is closed: the first
-- answer in that time is counted with its time. Closings that are not counted yet say when a conversation was open
-- that is open again. Where an agent asked for people, the first answer of a colleague before it is closed is
-- counted with the time since then. `OFFSET 0` has events looked up by index. Indexes `inbox_finished`, `send_by_age`,
-- `inbox_by_session`, `send_by_session`, `report_event_by_age` and `report_event_by_session`, and the primary key of
-- `queue`.
WITH answer AS MATERIALIZED (
    SELECT instance_id, session_key, finished_at AS at, '' AS user_id, true AS is_agent FROM inbox
    WHERE {{ within("finished_at") }} AND status = 1 AND {{ by_agent }}
    UNION ALL
    SELECT s.instance_id, s.session_key, s.created_at, coalesce(s.user_id, ''), s.author = 'resource'
    FROM send s CROSS JOIN LATERAL (
        SELECT i.received_at, i.answer IS NOT NULL AS is_answered FROM inbox i
        WHERE {{ same_session("i", "s") }} AND i.received_at <= s.created_at ORDER BY i.id DESC LIMIT 1
    ) asked
    WHERE {{ within("s.created_at") }} AND (s.author = 'person' OR NOT asked.is_answered)
    AND ((
        SELECT p.created_at FROM send p WHERE {{ same_session("p", "s") }} AND p.id < s.id AND p.author = s.author
        ORDER BY p.id DESC LIMIT 1
    ) >= asked.received_at) IS NOT TRUE
), session AS (
    SELECT DISTINCT instance_id, session_key FROM answer
), spell AS (
    SELECT DISTINCT ON (1, 2, 3) * FROM (
        SELECT s.instance_id, s.session_key, e.opened_at, e.at AS closed_at
        FROM session s CROSS JOIN LATERAL (
            SELECT opened_at, at FROM report_event r WHERE {{ same_session("r", "s") }} AND kind = 1 OFFSET 0
        ) e
        UNION ALL
        SELECT s.instance_id, s.session_key, q.opened_at, coalesce(q.closed_at, 'infinity')
        FROM session s JOIN queue q ON q.kind = 0 AND {{ same_session("q", "s") }}
    ) s WHERE opened_at IS NOT NULL ORDER BY 1, 2, 3, 4
), first AS (
    SELECT DISTINCT ON (s.instance_id, s.session_key, s.opened_at)
        {{ day("a.at") }} AS day, s.instance_id, a.user_id, a.at, s.opened_at
    FROM spell s JOIN answer a ON {{ same_session("a", "s") }} AND a.at BETWEEN s.opened_at AND s.closed_at
    WHERE s.opened_at > %(since)s OR ({{ earlier_answer("s") }} >= s.opened_at) IS NOT TRUE
    ORDER BY s.instance_id, s.session_key, s.opened_at, a.at
), met AS (
    SELECT DISTINCT ON (e.id) e.id, {{ day("a.at") }} AS day, a.instance_id, a.user_id, a.at, e.at AS opened_at
    FROM answer a CROSS JOIN LATERAL (
        SELECT id, at FROM report_event r
        WHERE {{ same_session("r", "a") }} AND kind = 2 AND at <= a.at AND NOT EXISTS (
            SELECT FROM report_event c WHERE {{ same_session("c", "r") }} AND c.kind = 1 AND c.at BETWEEN r.at AND a.at
        ) OFFSET 0
    ) e WHERE NOT a.is_agent ORDER BY e.id, a.at
), event AS (
    DELETE FROM report_event WHERE kind IN (0, 1) AND at <= %(until)s
    RETURNING session_key, kind, {{ day("at") }} AS day, instance_id, coalesce(user_id, '') AS user_id, at, opened_at
), over AS (
    DELETE FROM report_event WHERE id IN (
        SELECT id FROM met UNION ALL SELECT r.id FROM event e CROSS JOIN LATERAL (
            SELECT id FROM report_event r WHERE {{ same_session("r", "e") }} AND kind = 2 AND r.at <= e.at OFFSET 0
        ) r WHERE e.kind = 1
    )
), counted AS (
    SELECT {{ day("at") }} AS day, instance_id, user_id,
        CASE WHEN is_agent THEN {{ m.ANSWERED_BY_AGENT }} ELSE {{ m.ANSWERED_BY_PERSON }} END AS measure, 1 AS count
    FROM answer
    UNION ALL SELECT day, instance_id, user_id, CASE kind WHEN 0 THEN {{ m.HANDOVERS }} ELSE {{ m.CLOSED }} END, 1
    FROM event
    UNION ALL {{ times("first", m.FIRST_ANSWER_TIME, first_answers) }}
    UNION ALL {{ times("met", m.PERSON_TIME, first_waits) }}
    UNION ALL {{ times("event", m.CLOSE_TIME, closings) }}
)
{{ add_counted }}

{% macro vote(rating) -%}
CASE {{ rating }} WHEN 1 THEN {{ m.FEEDBACK_UP }} ELSE {{ m.FEEDBACK_DOWN }} END
{%- endmacro %}

-- name: count_votes
-- A vote counts on the day on which it was given last: one that was changed is taken from the day before. Index
-- `feedback_by_age`, and the primary key.
WITH vote AS MATERIALIZED (
    SELECT id, instance_id, at, rating, reported, reported_at FROM feedback WHERE {{ within("at") }} FOR UPDATE
), noted AS (
    UPDATE feedback f SET reported = v.rating, reported_at = v.at FROM vote v WHERE f.id = v.id
), counted AS (
    SELECT {{ day("at") }} AS day, instance_id, '' AS user_id, {{ vote("rating") }} AS measure, 1 AS count FROM vote
    UNION ALL SELECT {{ day("reported_at") }}, instance_id, '', {{ vote("reported") }}, -1
    FROM vote WHERE reported IS NOT NULL
)
{{ add_counted }}

-- name: move_reports
-- No statement that stores messages takes a minute: what is stored later has a higher id. Primary key.
UPDATE report_position SET until = %(until)s, inbox_id = coalesce((
    SELECT max(id) FROM inbox WHERE id > %(inbox)s AND received_at <= %(until)s - interval '1 minute'
), inbox_id)

-- name: report
-- `{day}`, `{instance}`, `{team}` and `{person}` are columns, or what stands for all; `{teams}` joins the teams of
-- colleagues, `{instances}` is a condition. Primary key or index `report_by_instance`, and index `team_member_by_user`.
SELECT day, instance_id, team_id, (SELECT name FROM team t WHERE t.id = team_id), user_id,
    jsonb_object_agg(measure, count)
FROM (
    SELECT {day} AS day, {instance} AS instance_id, {team} AS team_id, {person} AS user_id, measure,
        sum(count)::bigint AS count
    FROM report r{teams} WHERE r.day BETWEEN %(first)s AND %(last)s{instances} GROUP BY 1, 2, 3, 4, 5
) counted WHERE (day, instance_id, team_id, user_id) > (%(day)s, %(instance)s, %(team)s, %(user)s)
GROUP BY 1, 2, 3, 5 ORDER BY 1, 2, 3, 5 LIMIT %(count)s
