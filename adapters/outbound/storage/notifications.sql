-- The statements of notifications. Column `kind` of `queue`: 0 inbound. Levels: 1 VIEW, 2 ANSWER, 3 MANAGE.

{# The session of a conversation: where its key is a hash, an event has the id itself. Index `inbox_by_session`. #}
{% macro session_of(r) -%}
CASE WHEN {{ r }}.session_key LIKE 'sha256:%%' THEN (
    SELECT event FROM inbox x WHERE x.instance_id = {{ r }}.instance_id AND x.session_key = {{ r }}.session_key
        AND x.event <> '{}' ORDER BY x.id DESC LIMIT 1
) END
{%- endmacro %}

{# Whether a user may see what a notification is about. Primary keys, and index `team_member_by_user`. #}
{% set is_allowed -%}
(n.instance_id IS NULL OR u.role = 'admin' OR i.user_id = u.id OR CASE n.kind
    {%- for kind, level in levels.items() %} WHEN '{{ kind }}' THEN {{ level }}{% endfor %} ELSE 3 END <= (
    SELECT coalesce(max(a.level), 0) FROM instance_access a WHERE a.user_id = u.id AND a.instance_id = n.instance_id
))
{%- endset %}
{% set columns -%}
n.id, n.kind, n.created_at, n.instance_id, i.channel_name, n.session_key, {{ session_of("n") }},
    n.ref, n.actor, n.data, n.read_at
{%- endset %}
{% set of_user -%}
FROM notification n JOIN app_user u ON u.id = n.user_id LEFT JOIN channel_instance i ON i.id = n.instance_id
WHERE n.user_id = %(user)s AND {{ is_allowed }}
{%- endset %}

-- name: list_notifications
-- Index `notification_by_user`.
SELECT {{ columns }} {{ of_user }} AND n.id < %(before)s ORDER BY n.id DESC LIMIT %(count)s

-- name: list_unread
-- Index `notification_unread`.
SELECT {{ columns }} {{ of_user }} AND n.id < %(before)s AND n.read_at IS NULL ORDER BY n.id DESC LIMIT %(count)s

-- name: count_unread
-- Index `notification_unread`.
SELECT count(*) FROM (SELECT 1 {{ of_user }} AND n.read_at IS NULL LIMIT %(most)s) unread

-- name: mark_read
-- Indexes `notification_unread` and primary key.
UPDATE notification SET read_at = %(now)s
WHERE user_id = %(user)s AND read_at IS NULL AND (id <= %(up_to)s OR id = ANY(%(ids)s::bigint[]))

-- name: causes
-- The oldest causes, with what is known now of their conversations. Primary keys.
SELECT c.id, c.kind, c.at, c.instance_id, c.session_key, {{ session_of("c") }}, c.ref, c.actor, c.named, c.data,
    q.assignee, q.held_until > now() AND q.held_by IS NOT NULL AND q.held_by_until = q.held_until,
    c.instance_id IS NOT NULL AND i.id IS NULL, t.name
FROM notification_cause c
LEFT JOIN channel_instance i ON i.id = c.instance_id AND i.status = 'active'
LEFT JOIN queue q ON q.kind = 0 AND q.instance_id = c.instance_id AND q.session_key = c.session_key
LEFT JOIN team t ON c.kind = 'assigned' AND t.id::text = substr(c.named[1], 6) AND starts_with(c.named[1], 'team:')
ORDER BY c.id LIMIT %(count)s

{# Users and teams that are named: by id, teams also by name. #}
{% set chosen -%}
SELECT unnest(%(users)s::text[]) AS user_id
    UNION SELECT m.user_id FROM team t JOIN team_member m ON m.team_id = t.id
    WHERE t.id::text = ANY(%(teams)s::text[]) OR lower(t.name) = ANY(%(teams)s::text[])
{%- endset %}

-- name: recipients
-- Active users with a level on an instance: those who are named, or all. All teams are looked at, which are few.
-- Indexes `instance_permission_by_instance` and `instance_team_permission_by_instance`, and primary keys.
WITH access AS (
    SELECT user_id, max(level) AS level FROM (
        SELECT user_id, level FROM instance_access WHERE instance_id = %(instance)s
        UNION ALL SELECT user_id, 3 FROM channel_instance WHERE id = %(instance)s
    ) a GROUP BY user_id
), chosen AS (
    {{ chosen }}
)
SELECT u.id, u.email, u.notifications
FROM app_user u LEFT JOIN access a ON a.user_id = u.id LEFT JOIN chosen c ON c.user_id = u.id
WHERE u.state = 'active' AND u.id IS DISTINCT FROM %(actor)s
    AND CASE WHEN %(everybody)s THEN a.level >= %(level)s
        ELSE c.user_id IS NOT NULL AND (u.role = 'admin' OR coalesce(a.level, 0) >= %(level)s) END
ORDER BY u.id LIMIT %(most)s

-- name: admin_recipients
SELECT id, email, notifications FROM app_user WHERE state = 'active' AND role = 'admin' ORDER BY id LIMIT %(most)s

-- name: budget_recipients
-- Of whom the budget is, and the admins.
SELECT u.id, u.email, u.notifications FROM app_user u
WHERE u.state = 'active' AND (u.role = 'admin' OR u.id = CASE %(of)s
    WHEN 'user' THEN %(subject)s
    WHEN 'instance' THEN (SELECT user_id FROM channel_instance WHERE id::text = %(subject)s)
    ELSE coalesce((SELECT owner FROM agent WHERE 'agent::' || slug = %(subject)s),
        (SELECT created_by FROM budget WHERE id = %(budget)s)) END)
ORDER BY u.id LIMIT %(most)s

-- name: lock_notifications
-- One after the other, so that each sees who was notified before.
SELECT pg_advisory_xact_lock({{ lock }})

-- name: settle_cause
-- Once for each cause: where another worker was faster, it is gone. Nobody is notified of the same thing again within an
-- hour, nor of what a resource assigned to them with its call for people; that an instance works again is told once to
-- each user who heard that it did not. Index `notification_by_object`.
WITH gone AS (
    DELETE FROM notification_cause WHERE id = %(cause)s RETURNING id
), fresh AS (
    INSERT INTO notification (user_id, kind, object, instance_id, session_key, ref, actor, data, created_at)
    SELECT r.user_id, %(kind)s, %(object)s, %(instance)s, %(session)s, %(ref)s, %(actor)s, %(data)s, %(now)s
    FROM gone, unnest(%(users)s::text[]) AS r(user_id)
    WHERE CASE WHEN %(kind)s = 'healthy' THEN (
            SELECT n.kind FROM notification n WHERE n.user_id = r.user_id AND n.object = %(object)s
            ORDER BY n.created_at DESC, n.id DESC LIMIT 1
        ) IS NOT DISTINCT FROM 'unhealthy'
        ELSE NOT EXISTS (
            SELECT FROM notification n WHERE n.user_id = r.user_id AND n.object = %(object)s
                AND (n.kind = %(kind)s OR n.kind = 'wanted' AND %(kind)s = 'assigned' AND %(actor)s::text IS NULL)
                AND n.created_at > %(now)s - %(again)s
        ) END
    RETURNING id, user_id, kind
), planned AS (
    INSERT INTO notification_delivery (notification_id, way, user_id, due_at)
    SELECT f.id, d.way, d.user_id, d.due_at
    FROM fresh f JOIN unnest(%(planned)s::text[], %(ways)s::text[], %(dues)s::timestamptz[]) AS d(user_id, way, due_at)
        ON d.user_id = f.user_id
), logged AS (
    INSERT INTO event_log (kind, user_id, data)
    SELECT 'notification.created', user_id,
        json_build_object('notificationId', id, 'notification', kind, 'userId', user_id)::text
    FROM fresh WHERE {{ listened }} ORDER BY id
)
SELECT count(*) FROM fresh

-- name: claim_deliveries
-- What is due to the user who waits longest, by one way. Their next try is noted at once: it counts if the process ends.
-- Indexes `notification_delivery_due` and `notification_delivery_by_user`, and primary keys.
WITH next AS (
    SELECT user_id, way FROM notification_delivery WHERE due_at <= %(now)s
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
), due AS (
    SELECT d.notification_id, d.way FROM notification_delivery d JOIN next USING (user_id, way)
    WHERE d.due_at <= %(now)s ORDER BY d.due_at LIMIT %(count)s FOR UPDATE OF d SKIP LOCKED
), taken AS (
    UPDATE notification_delivery d SET attempts = d.attempts + 1,
        due_at = %(now)s + least(interval '5 minutes' * power(2, d.attempts), interval '2 hours')
    FROM due WHERE d.notification_id = due.notification_id AND d.way = due.way
    RETURNING d.notification_id, d.way, d.attempts
)
SELECT u.id, u.email, u.state = 'active', t.way, u.notifications, t.attempts, {{ is_allowed }}, {{ columns }}
FROM taken t JOIN notification n ON n.id = t.notification_id JOIN app_user u ON u.id = n.user_id
LEFT JOIN channel_instance i ON i.id = n.instance_id ORDER BY n.id

-- name: end_deliveries
DELETE FROM notification_delivery WHERE way = %(way)s AND notification_id = ANY(%(ids)s::bigint[])

-- name: postpone_deliveries
UPDATE notification_delivery SET due_at = %(until)s, attempts = 0
WHERE way = %(way)s AND notification_id = ANY(%(ids)s::bigint[])

-- name: team_hours
-- The teams whose hours count for a conversation: the one that is responsible, else all that may answer on the instance.
-- Index `instance_team_permission_by_instance`.
SELECT t.id, t.hours, t.away_text FROM team t
WHERE t.hours IS NOT NULL AND CASE WHEN %(team)s::text IS NULL
    THEN t.id IN (SELECT team_id FROM instance_team_permission WHERE instance_id = %(instance)s AND level >= 2)
    ELSE t.id::text = %(team)s OR lower(t.name) = %(team)s END
ORDER BY t.id

-- name: wait_for_team
-- A conversation that waits for people waits until they are there, and then as long as it would now. Primary key.
UPDATE queue SET held_until = w.until, due_at = CASE WHEN owner IS NULL THEN w.until ELSE due_at END
FROM (
    SELECT instance_id, session_key, %(start)s + make_interval(mins => coalesce(handler_minutes, 0)) AS until
    FROM queue WHERE kind = 0 AND instance_id = %(instance)s AND session_key = %(session)s
) w
WHERE queue.kind = 0 AND queue.instance_id = w.instance_id AND queue.session_key = w.session_key
    AND queue.held_until > now() AND queue.held_until < w.until
    AND (queue.held_by IS NOT NULL AND queue.held_by_until = queue.held_until) IS NOT TRUE
