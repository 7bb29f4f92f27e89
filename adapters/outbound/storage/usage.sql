-- The statements of the usage of resources. The function `add_usage` puts runs on record in `usage_run`, as fast as it
-- can be done: it is called with each message. `count_runs` adds them to the sums.

-- name: add_kept
SELECT add_usage(%(spent)s::jsonb, NULL)

-- name: has_runs
SELECT EXISTS (SELECT FROM usage_run)

-- name: lock_sums
-- One transaction at a time adds to the sums, and each statement behind this one sees what others have added.
SELECT pg_advisory_xact_lock(hashtextextended('usage', 0))

-- name: count_runs
-- Adds the runs on record to the sums of usage and of budgets. Column `slot` is 0 in new rows. Primary keys, and index
-- `budget_key`.
WITH gone AS (
    DELETE FROM usage_run RETURNING *
), run AS MATERIALIZED (
    SELECT (g.at AT TIME ZONE 'utc')::date AS day, r.*
    FROM gone g CROSS JOIN LATERAL jsonb_to_recordset(g.spent) AS r(event bigint, instance bigint, resource text,
        "user" text, currency text, runs bigint, input bigint, output bigint, seconds float8, cost numeric)
    WHERE g.done IS NULL OR r.event = ANY(g.done)
), used AS (
    INSERT INTO usage AS u (day, instance_id, resource_id, user_id, currency, slot,
        runs, input_tokens, output_tokens, seconds, cost)
    SELECT day, instance, resource, "user", currency, 0, sum(runs), sum(input), sum(output), sum(seconds), sum(cost)
    FROM run GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (day, instance_id, resource_id, user_id, currency, slot) DO UPDATE SET
        runs = u.runs + excluded.runs,
        input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        seconds = u.seconds + excluded.seconds,
        cost = u.cost + excluded.cost
), spent AS (
    INSERT INTO budget_spent AS b (budget_id, month, slot, amount)
    SELECT g.id, date_trunc('month', r.day)::date, 0,
        sum(CASE WHEN g.currency = '' THEN r.input + r.output ELSE r.cost END)
    FROM run r CROSS JOIN LATERAL (VALUES
        ('instance', r.instance::text), ('agent', r.resource), ('user', r.user)
    ) AS s(scope, subject)
    JOIN budget g ON g.scope = s.scope AND g.subject = s.subject AND g.currency IN ('', r.currency)
    GROUP BY 1, 2
    ON CONFLICT (budget_id, month, slot) DO UPDATE SET amount = b.amount + excluded.amount
)
SELECT

-- name: list_usage
-- Sums by some of the columns: the others hold the same in all rows. Of all instances, where `instances` is NULL. Primary
-- key, or index `usage_by_instance`.
SELECT day, instance_id, resource_id, user_id, currency, sum(runs)::bigint, sum(input_tokens)::bigint,
    sum(output_tokens)::bigint, sum(seconds), sum(cost)::float8
FROM (
    SELECT CASE WHEN %(by_day)s THEN day ELSE %(all_days)s END AS day,
        CASE WHEN %(by_instance)s THEN instance_id ELSE 0 END AS instance_id,
        CASE WHEN %(by_agent)s THEN resource_id ELSE '' END AS resource_id,
        CASE WHEN %(by_user)s THEN user_id ELSE '' END AS user_id,
        currency, runs, input_tokens, output_tokens, seconds, cost
    FROM usage
    WHERE day BETWEEN %(first)s AND %(last)s AND (NOT %(by_day)s OR day >= %(day)s)
        AND (%(instances)s::bigint[] IS NULL OR instance_id = ANY(%(instances)s)
            OR (instance_id = 0 AND user_id = %(asked_by)s))
) u
WHERE (day, instance_id, resource_id, user_id, currency)
    > (%(day)s, %(instance)s::bigint, %(resource)s::text, %(user)s::text, %(currency)s::text)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 LIMIT %(count)s
