"""People: the senders of an owner's conversations, over all channels."""

from alembic import op

revision = "0070_people"
down_revision = "0069_reports"


def upgrade() -> None:
    op.execute(
        """
        -- given_*: set by hand. name, language, search, first_at and seen_at follow from the senders. was_split: no
        -- other person is joined with this one by itself any more. is_erased: all of the person is being erased.
        CREATE TABLE person (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            owner text NOT NULL,
            given_name text,
            given_language text,
            labels text[],
            name text NOT NULL DEFAULT '',
            language text,
            search text NOT NULL DEFAULT '',
            first_at timestamptz NOT NULL DEFAULT now(),
            seen_at timestamptz NOT NULL DEFAULT now(),
            was_split boolean NOT NULL DEFAULT false,
            is_erased boolean NOT NULL DEFAULT false
        );
        CREATE INDEX person_by_owner ON person (owner, seen_at, id);
        CREATE INDEX person_by_age ON person (seen_at, id);
        CREATE INDEX person_labelled ON person USING gin (labels) WITH (fastupdate = off) WHERE labels IS NOT NULL;
        CREATE INDEX person_search ON person USING gin (search gin_trgm_ops);

        -- A sender of a conversation. identities: JSON, pairs of field and value; identity_keys: comparable.
        -- beginning: how the stored events of the sender in this conversation begin; profile: what they hold of
        -- name and identities; checked_at: the event of which more was read last.
        CREATE TABLE person_sender (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            sender_key text NOT NULL,
            person_id bigint NOT NULL REFERENCES person,
            session_id text NOT NULL,
            sender text NOT NULL,
            name text NOT NULL,
            language text,
            identities text NOT NULL,
            identity_keys text[],
            user_id text,
            beginning text NOT NULL DEFAULT '-',
            profile text NOT NULL DEFAULT '',
            checked_at timestamptz NOT NULL DEFAULT '-infinity',
            first_at timestamptz NOT NULL,
            seen_at timestamptz NOT NULL,
            PRIMARY KEY (instance_id, session_key, sender_key)
        );
        CREATE INDEX person_sender_by_person ON person_sender (person_id);
        CREATE INDEX person_sender_by_account ON person_sender (instance_id, sender_key);
        CREATE INDEX person_sender_identified ON person_sender USING gin (identity_keys) WITH (fastupdate = off)
            WHERE identity_keys IS NOT NULL;
        CREATE INDEX person_sender_by_user ON person_sender (user_id) WHERE user_id IS NOT NULL;

        CREATE TABLE person_position (
            id smallint PRIMARY KEY,
            inbox_id bigint NOT NULL,
            claimed_at timestamptz NOT NULL
        );

        -- An export or an erasure of a person. done, total: conversations. run: how often a process began with it,
        -- which is the token of its lease. blob_key: the file of an export.
        CREATE TABLE privacy_request (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            owner text NOT NULL,
            person_id bigint NOT NULL,
            kind text NOT NULL CHECK (kind IN ('export', 'erase')),
            state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'failed')),
            requested_by text NOT NULL,
            done integer NOT NULL DEFAULT 0,
            total integer NOT NULL,
            run integer NOT NULL DEFAULT 0,
            failures integer NOT NULL DEFAULT 0,
            error text,
            blob_key text,
            size bigint,
            lease_until timestamptz,
            created_at timestamptz NOT NULL DEFAULT now(),
            finished_at timestamptz,
            expires_at timestamptz
        );
        CREATE INDEX privacy_request_open ON privacy_request (id) WHERE state IN ('pending', 'running');
        CREATE INDEX privacy_request_by_owner ON privacy_request (owner, id);
        CREATE INDEX privacy_request_by_person ON privacy_request (person_id, id);
        CREATE INDEX privacy_request_by_age ON privacy_request (created_at);

        -- Brings what follows from the senders of some people up to date. People without senders are deleted. Each
        -- statement sees what was committed before the people were locked.
        CREATE FUNCTION refresh_people(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM FROM person WHERE id = ANY(ids) ORDER BY id FOR UPDATE;
            DELETE FROM person p WHERE id = ANY(ids)
                AND NOT EXISTS (SELECT FROM person_sender s WHERE s.person_id = p.id);
            UPDATE person p SET first_at = s.first_at, seen_at = s.seen_at,
                name = coalesce(given_name, s.name, s.sender, ''), language = coalesce(given_language, s.language),
                search = left(lower(coalesce(given_name || E'\\n', '') || s.search), 20000)
            FROM (
                SELECT person_id, min(first_at) AS first_at, max(seen_at) AS seen_at,
                    (array_agg(name ORDER BY seen_at DESC) FILTER (WHERE name NOT IN ('', sender)))[1] AS name,
                    (array_agg(sender ORDER BY seen_at DESC))[1] AS sender,
                    (array_agg(language ORDER BY seen_at DESC) FILTER (WHERE language IS NOT NULL))[1] AS language,
                    string_agg(DISTINCT concat_ws(E'\\n', name, sender, array_to_string(identity_keys, E'\\n')),
                        E'\\n') AS search
                FROM person_sender WHERE person_id = ANY(ids) GROUP BY 1
            ) s WHERE p.id = s.person_id;
        END $$;
        CREATE FUNCTION refresh_people_of_senders() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM refresh_people(ARRAY(SELECT DISTINCT person_id FROM gone));
            RETURN NULL;
        END $$;
        CREATE TRIGGER person_sender_gone AFTER DELETE ON person_sender
            REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION refresh_people_of_senders();
        """
    )
