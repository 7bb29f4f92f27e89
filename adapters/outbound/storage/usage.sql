-- The statements of the usage of resources. Runs are added by the function `add_usage`, see its migration.

-- name: add_kept
SELECT add_usage(%(spent)s::jsonb, NULL)

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
