-- The statements of budgets. What runs spend of them is added by `count_runs`, see `usage.sql`.

{% set month = "date_trunc('month', now() AT TIME ZONE 'utc')::date" %}
{% set spent -%}
coalesce((SELECT sum(s.amount) FROM budget_spent s WHERE s.budget_id = b.id AND s.month = {{ month }}), 0)
{%- endset %}
{% set budgets -%}
SELECT b.id, b.scope, b.subject, b.currency, b.by_admin, b.amount::float8, b.created_by, b.updated_at,
    {{ month }}, {{ spent }}::float8
FROM budget b
{%- endset %}
{# Those of a user, of the instances that the user may see, and of the user's agents. #}
{% set of_owner -%}
(%(owner)s::text IS NULL OR (b.scope = 'user' AND b.subject = %(owner)s)
    OR (b.scope = 'instance' AND b.subject IN (
        SELECT id::text FROM channel_instance WHERE user_id = %(owner)s
        UNION ALL SELECT instance_id::text FROM instance_access WHERE user_id = %(owner)s
    ))
    OR (b.scope = 'agent' AND b.subject IN (SELECT 'agent::' || slug FROM agent WHERE owner = %(owner)s)))
{%- endset %}

-- name: set_budget
-- A new one counts what its subject has spent this month: primary key of `usage`. A changed one begins anew to tell of
-- the percent that it reaches. Indexes `budget_key` and `budget_by_creator`.
WITH stored AS (
    INSERT INTO budget AS b (scope, subject, currency, by_admin, amount, created_by)
    SELECT %(scope)s, %(subject)s, %(currency)s, %(by_admin)s, %(amount)s, %(created_by)s
    WHERE (SELECT count(*) FROM budget WHERE created_by = %(created_by)s) < %(most)s
        OR EXISTS (SELECT FROM budget WHERE scope = %(scope)s AND subject = %(subject)s
            AND currency = %(currency)s AND by_admin = %(by_admin)s)
    ON CONFLICT (scope, subject, currency, by_admin) DO UPDATE SET amount = excluded.amount, updated_at = now(),
        notified = CASE WHEN b.amount = excluded.amount THEN b.notified ELSE 0 END
    RETURNING b.id, xmax = 0 AS is_new
), counted AS (
    INSERT INTO budget_spent AS s (budget_id, month, slot, amount)
    SELECT n.id, {{ month }}, 0, (
        SELECT coalesce(sum(CASE WHEN %(currency)s = '' THEN input_tokens + output_tokens ELSE cost END), 0)
        FROM usage WHERE day >= {{ month }} AND (%(currency)s = '' OR currency = %(currency)s)
            AND CASE %(scope)s WHEN 'instance' THEN instance_id::text WHEN 'agent' THEN resource_id ELSE user_id END
                = %(subject)s
    )
    FROM stored n WHERE n.is_new
    ON CONFLICT (budget_id, month, slot) DO UPDATE SET amount = s.amount + excluded.amount
)
SELECT id FROM stored

-- name: find_budget
{{ budgets }} WHERE b.id = %(id)s AND {{ of_owner }}

-- name: list_budgets
-- Primary keys.
{{ budgets }} WHERE b.id > %(after)s AND {{ of_owner }} ORDER BY b.id LIMIT %(count)s

-- name: remove_budget
WITH gone AS (DELETE FROM budget WHERE id = %(id)s)
DELETE FROM budget_spent WHERE budget_id = %(id)s

-- name: budget_states
SELECT b.id, b.scope, b.subject, b.currency, b.amount::float8, {{ month }}, {{ spent }}::float8,
    CASE WHEN b.notified_month = {{ month }} THEN b.notified ELSE 0 END
FROM budget b

-- name: tell_reached
-- Once by each percent and month, whichever process is first: the row of the budget is locked. An event belongs to the
-- user whom the budget is of, or who owns the instance or the agent.
WITH reached AS (
    SELECT b.id, p.percent, {{ spent }} AS spent FROM budget b CROSS JOIN LATERAL (
        SELECT max(t) AS percent FROM unnest(%(notified)s::int[]) AS t WHERE {{ spent }} * 100 >= b.amount * t
    ) p WHERE p.percent IS NOT NULL
), told AS (
    UPDATE budget b SET notified = r.percent, notified_month = {{ month }} FROM reached r
    WHERE b.id = r.id AND (b.notified_month IS DISTINCT FROM {{ month }} OR b.notified < r.percent)
    RETURNING b.*, r.spent
)
INSERT INTO event_log (kind, instance_id, user_id, data)
SELECT 'budget.reached', CASE WHEN t.scope = 'instance' THEN t.subject::bigint END,
    CASE t.scope WHEN 'user' THEN t.subject
        WHEN 'agent' THEN coalesce((SELECT owner FROM agent WHERE 'agent::' || slug = t.subject), t.created_by) END,
    json_build_object(
        'budgetId', t.id, 'percent', t.notified, 'month', to_char(t.notified_month, 'YYYY-MM'),
        'userId', CASE WHEN t.scope = 'user' THEN t.subject END,
        'resourceId', CASE WHEN t.scope = 'agent' THEN t.subject END,
        'amount', t.amount::float8, 'spent', t.spent::float8, 'currency', nullif(t.currency, '')
    )::text
FROM told t WHERE EXISTS (SELECT FROM event_listener WHERE until > now()) ORDER BY t.id
