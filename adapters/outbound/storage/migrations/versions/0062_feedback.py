"""Votes on answers, and whether the answers of an instance ask for them."""

from alembic import op

revision = "0062_feedback"
down_revision = "0061_agents"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE channel_instance ADD feedback boolean NOT NULL DEFAULT false;
        CREATE TABLE feedback (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            inbox_id bigint NOT NULL,
            session_key text NOT NULL,
            sender_key text NOT NULL,
            sender text NOT NULL,
            sender_name text NOT NULL,
            rating smallint NOT NULL,
            at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX feedback_vote ON feedback (inbox_id, sender_key);
        CREATE INDEX feedback_by_instance ON feedback (instance_id, id);
        CREATE INDEX feedback_by_rating ON feedback (instance_id, rating, id);
        CREATE INDEX feedback_by_session ON feedback (instance_id, session_key);
        CREATE INDEX feedback_by_age ON feedback (at);
        """
    )
