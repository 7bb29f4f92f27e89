-- The statements of the figures of messages. Column `status` of `inbox`: 0 queued, 1 done, 2 failed;
-- of `outbox`: 0 pending, 1 sent, 2 dead. Column `kind` of `queue`: 0 inbound, 1 outbound, 2 a correspondent.

-- name: begin_figures
INSERT INTO figure_position (id, until, inbox_id) VALUES (1, now() - interval '1 day', 0) ON CONFLICT DO NOTHING

-- name: lock_figures
-- From when to when rows are to be counted, and the id of the inbox behind which the received ones stand.
SELECT greatest(p.until, now() - interval '1 day'), p.inbox_id, {{ settled }}
FROM figure_position p FOR UPDATE OF p SKIP LOCKED

{% set within = "finished_at > %(since)s AND finished_at <= %(until)s" %}
{% macro bucket(end) -%}
width_bucket(extract(epoch FROM {{ end }}.finished_at - i.received_at)::float8, %(bounds)s)
{%- endmacro %}

-- name: count_figures
-- An answer is counted when the platform took its first part, or the call that waits for it did. Indexes
-- `inbox_finished`, `outbox_finished`, `outbox_by_event` and those of the failures, and the primary key of `inbox`.
INSERT INTO figure AS f (instance_id, step, at, measure, count)
SELECT c.instance_id, s.step, date_bin(make_interval(secs => s.step), c.at, timestamptz 'epoch'), c.measure, count(*)
FROM (
    SELECT instance_id, received_at AS at, {{ received }} AS measure FROM inbox
    WHERE id > %(inbox)s AND received_at > %(since)s AND received_at <= %(until)s
    UNION ALL
    SELECT instance_id, at, {{ failed }} FROM ({{ failures }}) given_up
    UNION ALL
    SELECT o.instance_id, o.finished_at, {{ bucket("o") }} FROM outbox o JOIN inbox i ON i.id = o.inbox_id
    WHERE o.finished_at > %(since)s AND o.finished_at <= %(until)s AND o.status = 1 AND NOT o.apology
    AND NOT EXISTS (SELECT FROM outbox p WHERE p.inbox_id = o.inbox_id AND NOT p.apology AND p.id < o.id)
    UNION ALL
    SELECT instance_id, finished_at, {{ bucket("i") }} FROM inbox i
    WHERE {{ within }} AND status = 1 AND taken
    AND NOT EXISTS (SELECT FROM outbox p WHERE p.inbox_id = i.id)
) c JOIN channel_instance i ON i.id = c.instance_id CROSS JOIN unnest(%(steps)s) AS s(step)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (instance_id, step, at, measure) DO UPDATE SET count = f.count + excluded.count

-- name: move_figures
-- No statement that stores messages takes a minute: what is stored later has a higher id. Primary key.
UPDATE figure_position SET until = %(until)s, inbox_id = coalesce((
    SELECT max(id) FROM inbox WHERE id > %(inbox)s AND received_at <= %(until)s - interval '1 minute'
), inbox_id)

-- name: figures_until
SELECT coalesce((SELECT until FROM figure_position), now())

{# Index `figure_by_age`, or the primary key. #}
{% macro figures(of) -%}
SELECT at, measure, sum(count)::bigint FROM figure
WHERE step = %(step)s AND at > %(until)s - make_interval(secs => %(length)s) {{ of }} GROUP BY 1, 2
{%- endmacro %}

-- name: figures_of_all
{{ figures("") }}

-- name: figures_of_some
{{ figures("AND instance_id = ANY(%(ids)s)") }}
