-- The statements of the limits that workers share, and of what waits for a worker.

-- name: oldest_due
-- Index `queue_due`.
SELECT extract(epoch FROM now() - least(
    (SELECT min(due_at) FROM queue WHERE kind = 0 AND pending > 0 AND due_at <= now()),
    (SELECT min(due_at) FROM queue WHERE kind = 1 AND pending > 0 AND due_at <= now())
))

-- name: shared_limits
SELECT 0, NULL, count(*) FILTER (WHERE worker_id < %s), NULL::float8, count(*)::int FROM process
WHERE role IN ('worker', 'standalone') AND beat_at > now() - interval '15 seconds'
UNION ALL
SELECT 1, key, NULL, extract(epoch FROM until - now()), 0 FROM send_cooldown WHERE until > now()
UNION ALL
SELECT 2, NULL, b.instance_id, extract(epoch FROM b.until - now()), b.openings
FROM send_breaker b JOIN channel_instance i ON i.id = b.instance_id AND i.updated_at <= b.opened_at

{# Seconds for which a quota is used up. More than could have been reserved: the database's clock was put back. #}
{% set used -%}
CASE WHEN q.used_until - now() > make_interval(secs => %(slack)s + %(max_wait)s + 60 + %(interval)s) THEN 0
    ELSE extract(epoch FROM q.used_until - now()) END
{%- endset %}

-- name: reserve_slot
INSERT INTO send_quota AS q (key, used_until, wait)
VALUES (%(key)s, now() + make_interval(secs => %(interval)s), 0)
ON CONFLICT (key) DO UPDATE SET
    wait = greatest(0, {{ used }} - %(slack)s),
    used_until = CASE WHEN {{ used }} - %(slack)s <= %(max_wait)s
        THEN now() + make_interval(secs => greatest({{ used }}, 0) + %(interval)s) ELSE q.used_until END
RETURNING wait

-- name: cool_down
INSERT INTO send_cooldown AS c (key, until) VALUES (%s, now() + make_interval(secs => %s))
ON CONFLICT (key) DO UPDATE SET until = greatest(c.until, excluded.until)

-- name: open_breaker
INSERT INTO send_breaker AS b (instance_id, until, openings, reason)
SELECT id, now() + make_interval(secs => %s), %s, %s FROM channel_instance WHERE id = %s
ON CONFLICT (instance_id) DO UPDATE SET until = excluded.until, openings = excluded.openings,
    reason = excluded.reason, opened_at = CASE WHEN EXISTS (
        SELECT FROM channel_instance i WHERE i.id = b.instance_id AND i.updated_at > b.opened_at
    ) THEN now() ELSE b.opened_at END

-- name: remove_expired_limits
WITH cooldowns AS (DELETE FROM send_cooldown WHERE until < now()),
quotas AS (DELETE FROM send_quota WHERE used_until < now() - interval '1 minute')
DELETE FROM send_breaker b USING channel_instance i WHERE i.id = b.instance_id AND i.updated_at > b.opened_at
