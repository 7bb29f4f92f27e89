"""Conversations: answers beside their events, messages sent first, the handler of a conversation, and events."""

from alembic import op

revision = "0022_conversations"
down_revision = "0021_plain_columns"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound queues: until when a person has the conversation, and for how long after each message of theirs.
        ALTER TABLE queue ADD COLUMN held_until timestamptz, ADD COLUMN handler_minutes integer;
        CREATE INDEX queue_conversations ON queue (instance_id, touched_at, session_key) WHERE kind = 0;

        -- answer: JSON with the text, the files and the choices of the answer, and who made it.
        ALTER TABLE inbox ADD COLUMN answer text;
        CREATE INDEX inbox_by_session ON inbox (instance_id, session_key, id);
        CREATE INDEX inbox_failed ON inbox (instance_id, id) WHERE status = 2;

        -- A message that answers none. content: JSON as an answer's.
        CREATE TABLE send (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            session_id text NOT NULL,
            idempotency_key text,
            content text NOT NULL,
            author text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX send_idempotency ON send (instance_id, idempotency_key)
            WHERE idempotency_key IS NOT NULL;
        CREATE INDEX send_by_session ON send (instance_id, session_key, id);
        CREATE INDEX send_by_age ON send (created_at);

        -- delivery_state: what the platform said later; 1 delivered, 2 read.
        ALTER TABLE outbox ADD COLUMN send_id bigint, ADD COLUMN delivery_state smallint;
        DROP INDEX outbox_prompts;
        CREATE INDEX outbox_by_event ON outbox (inbox_id) WHERE inbox_id IS NOT NULL;
        CREATE INDEX outbox_by_send ON outbox (send_id) WHERE send_id IS NOT NULL;

        -- id: given in order of seq once the row is visible, so that readers that go on from an id miss nothing.
        -- ref: the row of inbox, outbox, send or of an upload that the event is about.
        CREATE SEQUENCE event_id;
        CREATE TABLE event_log (
            seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            id bigint,
            kind text NOT NULL,
            instance_id bigint,
            session_key text,
            ref bigint,
            data text,
            user_id text,
            at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX event_log_published ON event_log (id) WHERE id IS NOT NULL;
        CREATE INDEX event_log_unpublished ON event_log (seq) WHERE id IS NULL;
        CREATE INDEX event_log_by_session ON event_log (instance_id, session_key) WHERE session_key IS NOT NULL;
        CREATE INDEX event_log_by_age ON event_log (at);

        -- Events are recorded while a row is valid.
        CREATE TABLE event_listener (id text PRIMARY KEY, until timestamptz NOT NULL);
        """
    )
