"""Files of messages belong to conversations, and texts can be erased before their rows are."""

from alembic import op

revision = "0027_message_files"
down_revision = "0026_opt_outs"


def upgrade() -> None:
    op.execute(
        """
        -- The stored files of messages. inbox_id: the event that the file came with or that it answers, null where
        -- the message answers none. inbound: it came with the event. Each row is one reference to its blob.
        CREATE TABLE message_file (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            instance_id bigint NOT NULL,
            session_key text NOT NULL,
            inbox_id bigint,
            inbound boolean NOT NULL,
            blob_key text NOT NULL,
            name text NOT NULL,
            mime_type text NOT NULL,
            size bigint NOT NULL
        );
        CREATE INDEX message_file_by_session ON message_file (instance_id, session_key);
        CREATE INDEX message_file_by_event ON message_file (inbox_id) WHERE inbox_id IS NOT NULL;
        CREATE INDEX message_file_by_blob ON message_file (blob_key);

        -- An erased event is '{}': its key is kept for a while, so that it is not taken for a new one.
        DROP INDEX inbox_finished;
        CREATE INDEX inbox_erased ON inbox (finished_at) WHERE event = '{}';
        """
    )
