"""Where subscriptions go on reading the log of events that have as many pushes on their way as they may have."""

from alembic import op

revision = "0054_push_cursors"
down_revision = "0053_unanswered"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE push_cursor (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            position bigint NOT NULL,
            PRIMARY KEY (instance_id, session_key)
        )
        """
    )
