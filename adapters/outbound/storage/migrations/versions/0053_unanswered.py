"""Messages that are not answered, such as those of mailing lists, until somebody releases them."""

from alembic import op

revision = "0053_unanswered"
down_revision = "0052_session_aliases"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE unanswered (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            event_key text NOT NULL,
            reason text NOT NULL,
            event text NOT NULL,
            received_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX unanswered_event ON unanswered (instance_id, event_key);
        CREATE INDEX unanswered_by_instance ON unanswered (instance_id, id);
        CREATE INDEX unanswered_by_age ON unanswered (received_at);
        """
    )
