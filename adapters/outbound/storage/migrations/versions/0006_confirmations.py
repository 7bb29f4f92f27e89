"""Questions about tools, and the tools approved for a session."""

from alembic import op

revision = "0006_confirmations"
down_revision = "0005_links"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE tool_confirmation (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            lane_key text NOT NULL,
            id text NOT NULL,
            detail text NOT NULL,
            nonce text NOT NULL,
            asked_of text NOT NULL,
            asked_by bigint NOT NULL,
            expires_at timestamptz NOT NULL,
            decision text,
            decided_by bigint,
            begun boolean NOT NULL DEFAULT false,
            PRIMARY KEY (instance_id, lane_key)
        );
        CREATE INDEX tool_confirmation_expiry ON tool_confirmation (expires_at);

        CREATE TABLE tool_approval (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            lane_key text NOT NULL,
            tool text NOT NULL,
            heard_at timestamptz NOT NULL,
            PRIMARY KEY (instance_id, lane_key, tool)
        );
        CREATE INDEX tool_approval_silence ON tool_approval (heard_at);
        """
    )
