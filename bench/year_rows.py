"""The rows that messages of a year leave behind, made by bulk statements: stored, worked on, answered and sent, as
the engine does it, with the times of a day that is over.
"""

from datetime import datetime
from typing import Any

import psycopg

INSTANCES = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config, resource_id, connects)
SELECT 'user ' || n %% 200, 'http-webhook', 'year ' || n, config, 'agent::bench', false
FROM channel_instance, generate_series(1, 2000) n WHERE channel_name = 'first'
"""
CONVERSATIONS = """
CREATE TABLE year_conversation AS
SELECT n, i.id AS instance_id, 'conversation ' || n AS session_key,
    CASE WHEN n <= 2000 THEN 0 ELSE (n - 2000) * %(days)s / 18000 END AS first_day,
    CASE WHEN n <= 2000 THEN %(days)s ELSE (n - 2000) * %(days)s / 18000 + n %% 3 END AS last_day
FROM generate_series(1, 20000) n
JOIN (
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM channel_instance WHERE channel_name LIKE 'year%%'
) i ON i.place = n %% 2000
"""
"""2,000 conversations go on all year, 18,000 last for one to three days."""

CHUNK = """
CREATE TABLE year_part AS
WITH active AS (
    SELECT row_number() OVER () AS place, n <= 2000 AS lasts, instance_id, session_key FROM year_conversation
    WHERE %(day)s BETWEEN first_day AND last_day
), counts AS (SELECT count(*) FILTER (WHERE lasts) AS lasting, count(*) AS all FROM active)
SELECT %(base)s + n AS id, n, a.instance_id, a.session_key, %(from)s + n * (%(to)s - %(from)s) / %(count)s AS at
FROM (
    SELECT n, random() < 0.75 AS lasts, random() AS x FROM generate_series(1, %(count)s) n
) m CROSS JOIN counts c JOIN active a
ON a.place = CASE WHEN m.lasts OR c.all = c.lasting THEN 1 + floor(m.x * c.lasting)
    ELSE 1 + c.lasting + floor(m.x * (c.all - c.lasting)) END
"""
"""Three quarters of the messages are of conversations that go on."""

QUEUE = """
INSERT INTO queue AS q (kind, instance_id, session_key, pending, touched_at, due_at)
SELECT {kind}, instance_id, session_key, 0, max(at), max(at) FROM year_part GROUP BY 2, 3
ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET touched_at = excluded.touched_at, due_at = excluded.due_at
"""
STATEMENTS = (
    """
    INSERT INTO inbox (id, instance_id, session_key, event_key, event, received_at) OVERRIDING SYSTEM VALUE
    SELECT id, instance_id, session_key, 'year ' || id, '{"session":"' || session_key || '","sender":"sender '
        || id % 997 || '","text":"' || repeat(md5(id::text) || ' ', 22) || '","target":{"chat":' || id
        || ',"reply":"https://example.com/answers/' || id || '"},"request":"' || md5('r' || id) || '"}', at
    FROM year_part ORDER BY id
    """,
    QUEUE.format(kind=0),
    """
    UPDATE inbox i SET status = CASE WHEN p.n % 200 = 0 THEN 2 ELSE 1 END, finished_at = p.at + interval '1 second',
        error = CASE WHEN p.n % 200 = 0 THEN 'the resource did not answer' END,
        answer = '{"text":"' || repeat(md5('a' || p.id) || ' ', 8) || '","files":[],"choices":[],"author":"resource"}'
    FROM year_part p WHERE i.id = p.id
    """,
    """
    INSERT INTO outbox (id, instance_id, session_key, inbox_id, message, target, key, apology, prompt, created_at)
    OVERRIDING SYSTEM VALUE
    SELECT id, instance_id, session_key, id, '{"text":"' || repeat(md5('a' || id) || ' ', 8) || '"}',
        '{"chat":' || id || ',"reply":"https://example.com/answers/' || id || '"}', md5('k' || id), false, false, at
    FROM year_part ORDER BY id
    """,
    QUEUE.format(kind=1),
    """
    UPDATE outbox o SET status = CASE WHEN p.n % 100 = 0 THEN 2 ELSE 1 END, attempts = 1,
        finished_at = p.at + interval '2 seconds', ref = 'platform ' || p.id,
        last_error = CASE WHEN p.n % 100 = 0 THEN 'the platform refused the message' END
    FROM year_part p WHERE o.id = p.id
    """,
    """
    INSERT INTO event_log (id, kind, instance_id, session_key, ref, at)
    SELECT nextval('event_id'), e.kind, instance_id, session_key, p.id, at FROM year_part p
    CROSS JOIN (VALUES ('message.received'), ('delivery.sent')) e(kind) ORDER BY p.id
    """,
    """
    INSERT INTO chat_history (instance_id, session_key, request_id, role, content, created_at)
    SELECT instance_id, session_key, md5('r' || id), role, repeat(md5(id::text) || ' ', 8), at
    FROM year_part CROSS JOIN (VALUES ('user'), ('assistant')) r(role) WHERE n % 10 = 0
    """,
    """
    INSERT INTO send (instance_id, session_key, session_id, content, author, created_at)
    SELECT instance_id, session_key, session_key, '{"text":"' || repeat(md5(id::text) || ' ', 4) || '"}', 'resource',
        at
    FROM year_part WHERE n % 50 = 0
    """,
    """
    INSERT INTO figure AS f (instance_id, step, at, measure, count)
    SELECT instance_id, step, date_bin(make_interval(secs => step), at, timestamptz 'epoch'), measure, count(*)
    FROM year_part CROSS JOIN (VALUES (1800)) s(step) CROSS JOIN (VALUES (-2), (12)) m(measure)
    GROUP BY 1, 2, 3, 4 ON CONFLICT (instance_id, step, at, measure) DO UPDATE SET count = f.count + excluded.count
    """,
)
SEQUENCES = """
SELECT setval(pg_get_serial_sequence(t, 'id'), (SELECT max(id) FROM inbox)) FROM (VALUES ('inbox'), ('outbox')) s(t)
"""
SIZES = """
SELECT c.relname, pg_table_size(c.oid) >> 20, pg_indexes_size(c.oid) >> 20, n_live_tup, n_dead_tup, autovacuum_count
FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.relname = ANY(%s) ORDER BY c.relname
"""
DUE_FOR_VACUUM = """
SELECT relname FROM pg_stat_user_tables WHERE relname = ANY(%s) AND n_dead_tup > 5000 + 0.05 * n_live_tup
"""
"""A day passes within seconds, autovacuum looks once a minute: it is done by hand, once a day and not 1,440 times."""
TABLES = ["inbox", "outbox", "queue", "event_log", "send", "chat_history", "figure"]


def store_part(
    connection: psycopg.Connection, day: int, base: int, count: int, begin: datetime, end: datetime
) -> None:
    """`count` messages with the ids after `base`, evenly between two times of a day."""
    with connection.transaction():
        connection.execute("DROP TABLE IF EXISTS year_part")
        values = {"day": day, "base": base, "count": count, "from": begin, "to": end}
        connection.execute(_literal(CHUNK, values))
        for statement in STATEMENTS:
            connection.execute(statement.encode())


def _literal(statement: str, values: dict[str, Any]) -> bytes:
    """CREATE TABLE takes no parameters."""
    return (
        statement
        % {
            name: f"'{value}'::timestamptz" if isinstance(value, datetime) else value
            for name, value in values.items()
        }
    ).encode()
