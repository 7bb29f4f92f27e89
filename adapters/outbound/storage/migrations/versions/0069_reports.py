"""Reports: what happened on each day, by instance and colleague, counted once."""

from alembic import op

revision = "0069_reports"
down_revision = "0068_teams"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound queues: the first message since the conversation was new, or was opened again.
        ALTER TABLE queue ADD COLUMN IF NOT EXISTS opened_at timestamptz;
        -- The user who sent it; NULL for what a resource sends.
        ALTER TABLE send ADD COLUMN IF NOT EXISTS user_id text;
        -- The vote as reports have counted it, and its time.
        ALTER TABLE feedback ADD COLUMN IF NOT EXISTS reported smallint,
            ADD COLUMN IF NOT EXISTS reported_at timestamptz;

        -- `measure`: what was counted, or the number of a bucket of a histogram. Instances may be gone, their figures
        -- stay. `user_id`: the colleague; empty for what no colleague did.
        CREATE TABLE IF NOT EXISTS report (
            day date NOT NULL,
            instance_id bigint NOT NULL,
            user_id text NOT NULL,
            measure smallint NOT NULL,
            count bigint NOT NULL,
            PRIMARY KEY (day, instance_id, user_id, measure)
        );
        CREATE INDEX IF NOT EXISTS report_by_instance ON report (instance_id, day);
        CREATE TABLE IF NOT EXISTS report_position (
            id smallint PRIMARY KEY,
            until timestamptz NOT NULL,
            inbox_id bigint NOT NULL
        );
        -- Who has written on a day, as SHA-256 of their ids.
        CREATE TABLE IF NOT EXISTS report_person (
            day date NOT NULL,
            instance_id bigint NOT NULL,
            digest bytea NOT NULL,
            PRIMARY KEY (day, instance_id, digest)
        );
        -- What happened to conversations and is not counted yet. kind: 0 handed to people, 1 closed, 2 an agent asked
        -- for people, and no colleague has answered yet.
        CREATE TABLE IF NOT EXISTS report_event (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            kind smallint NOT NULL,
            at timestamptz NOT NULL,
            instance_id bigint NOT NULL,
            session_key text NOT NULL,
            opened_at timestamptz,
            user_id text
        );
        CREATE INDEX IF NOT EXISTS report_event_by_age ON report_event (kind, at);
        CREATE INDEX IF NOT EXISTS report_event_by_session ON report_event (instance_id, session_key);

        CREATE OR REPLACE FUNCTION note_handover() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            taken_by text := CASE WHEN NEW.held_by_until = NEW.held_until THEN NEW.held_by END;
        BEGIN
            INSERT INTO report_event (kind, at, instance_id, session_key, user_id)
            SELECT kind, now(), NEW.instance_id, NEW.session_key, taken_by FROM unnest(ARRAY[0, 2]) AS k(kind)
            WHERE kind = 0 OR taken_by IS NULL;
            RETURN NULL;
        END $$;
        CREATE OR REPLACE FUNCTION note_closed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO report_event (kind, at, instance_id, session_key, opened_at, user_id) VALUES (
                1, NEW.closed_at, NEW.instance_id, NEW.session_key, NEW.opened_at,
                CASE WHEN starts_with(NEW.assignee, 'user:') THEN substr(NEW.assignee, 6) END);
            RETURN NULL;
        END $$;
        CREATE OR REPLACE TRIGGER queue_handed_over AFTER UPDATE OF held_until ON queue FOR EACH ROW
            WHEN (NEW.kind = 0 AND NEW.held_until > now() AND (OLD.held_until > now()) IS NOT TRUE)
            EXECUTE FUNCTION note_handover();
        CREATE OR REPLACE TRIGGER queue_closed AFTER UPDATE OF closed_at ON queue FOR EACH ROW
            WHEN (NEW.kind = 0 AND NEW.closed_at IS NOT NULL AND OLD.closed_at IS NULL)
            EXECUTE FUNCTION note_closed();
        """
    )
