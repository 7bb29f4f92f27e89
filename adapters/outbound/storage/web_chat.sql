-- The statements of the web chat. Those that change it use the index `web_chat_session` and primary keys.

{# Seldom, so that most changes touch no index. #}
{% set touched -%}
touched_at = CASE WHEN web_chat.touched_at < now() - interval '1 hour' THEN now() ELSE web_chat.touched_at END
{%- endset %}
{% macro begun(changes) -%}
INSERT INTO web_chat (instance_id, session_key, since, version, touched_at)
SELECT i.id, %(session)s, n.version, n.version, now()
FROM (SELECT id FROM channel_instance WHERE id = %(instance)s) i, (SELECT nextval('web_chat_version') AS version) n
ON CONFLICT (instance_id, session_key) DO UPDATE SET version = nextval('web_chat_version'), {{ changes }}
RETURNING id, version
{%- endmacro %}
{% set known -%}
UPDATE web_chat SET version = nextval('web_chat_version'), typing_until = NULL, {{ touched }}
WHERE instance_id = %(instance)s AND session_key = %(session)s RETURNING id, version
{%- endset %}
{% set insert -%}
INSERT INTO web_chat_message AS m (web_chat_id, message_key, place, version, at, draft, body)
SELECT id, %(key)s, version, version, now(), %(draft)s, %(body)s FROM conversation
ON CONFLICT (web_chat_id, message_key)
{%- endset %}
{# A draft never takes the place of what is finished, and what was removed stays so. #}
{% set replace -%}
DO UPDATE SET version = excluded.version, draft = excluded.draft, body = excluded.body
WHERE (m.draft OR NOT excluded.draft) AND m.body IS NOT NULL
{%- endset %}
{% set columns = "m.message_key, m.version, m.place, m.at, m.draft, m.body" %}

-- name: receive_chat
WITH conversation AS ( {{ begun(touched) }} ) {{ insert }} DO NOTHING

-- name: write_chat
WITH conversation AS ( {{ begun("typing_until = NULL, " + touched) }} ) {{ insert }} {{ replace }}

-- name: change_chat
-- A draft that a crash loses comes again, or its answer does.
WITH conversation AS ( {{ known }} ), kept AS ( {{ insert }} {{ replace }} )
SELECT count(*), CASE WHEN %(draft)s THEN set_config('synchronous_commit', 'off', true) END FROM conversation

-- name: remove_chat
WITH conversation AS ( {{ known }} )
UPDATE web_chat_message m SET version = c.version, draft = false, body = NULL
FROM conversation c WHERE m.web_chat_id = c.id AND m.message_key = %(key)s AND m.body IS NOT NULL

-- name: type_in_chat
UPDATE web_chat SET typing_until = now() + make_interval(secs => %(seconds)s)
WHERE instance_id = %(instance)s AND session_key = %(session)s
    AND set_config('synchronous_commit', 'off', true) IS NOT NULL

-- name: read_chats
-- Indexes `web_chat_session`, `web_chat_message_changed` and `web_chat_message_shown`. A cursor that no version of
-- the conversation ever was, as it was erased since, is none.
WITH wanted AS (
    SELECT w.n, w.cursor, c.id, c.version,
        greatest(0, extract(epoch FROM c.typing_until - now()))::float8 AS typing,
        CASE WHEN w.cursor BETWEEN c.since AND c.version THEN w.cursor ELSE 0 END AS after
    FROM unnest(%s::bigint[], %s::text[], %s::bigint[])
        WITH ORDINALITY AS w(instance_id, session_key, cursor, n)
    LEFT JOIN web_chat c USING (instance_id, session_key)
)
SELECT w.n, w.cursor, w.after, coalesce(w.version, 0), coalesce(w.typing, 0), m.*
FROM wanted w LEFT JOIN LATERAL (
    (SELECT {{ columns }} FROM web_chat_message m WHERE m.web_chat_id = w.id AND w.after > 0 AND m.version > w.after
    ORDER BY m.version LIMIT {{ page }})
    UNION ALL
    (SELECT {{ columns }} FROM (
        SELECT l.*, sum(octet_length(l.body)) OVER (ORDER BY l.place DESC) - octet_length(l.body) AS bytes_behind
        FROM (
            SELECT * FROM web_chat_message m
            WHERE m.web_chat_id = w.id AND w.after = 0 AND m.body IS NOT NULL ORDER BY m.place DESC LIMIT {{ latest }}
        ) l
    ) m WHERE m.bytes_behind < {{ history_bytes }})
) m ON true
ORDER BY w.n, CASE WHEN w.after = 0 THEN m.place ELSE m.version END

-- name: chats_with_news
-- Index `web_chat_session`.
SELECT DISTINCT w.name
FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::bigint[]) AS w(name, instance_id, session_key, cursor)
LEFT JOIN web_chat c USING (instance_id, session_key)
WHERE coalesce(c.version, 0) <> w.cursor OR c.typing_until > now()
