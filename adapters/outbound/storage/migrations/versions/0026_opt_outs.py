"""People who want no more messages."""

from alembic import op

revision = "0026_opt_outs"
down_revision = "0025_offers"


def upgrade() -> None:
    op.execute(
        """
        -- A person wrote STOP (SMS). Kept until START, whatever becomes of the conversation.
        CREATE TABLE opt_out (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (instance_id, session_key)
        );
        """
    )
