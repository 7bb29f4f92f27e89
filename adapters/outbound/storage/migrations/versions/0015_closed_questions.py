"""Questions about tools stay for a while after they are over, and are found by the nonce of their buttons."""

from alembic import op

revision = "0015_closed_questions"
down_revision = "0014_checks"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE tool_confirmation
            ADD COLUMN closed_at timestamptz,
            ADD COLUMN decider text NOT NULL DEFAULT '',
            DROP CONSTRAINT tool_confirmation_pkey,
            ADD PRIMARY KEY (instance_id, id);
        CREATE UNIQUE INDEX tool_confirmation_open ON tool_confirmation (instance_id, lane_key)
            WHERE closed_at IS NULL;
        CREATE INDEX tool_confirmation_nonce ON tool_confirmation (nonce);
        CREATE INDEX tool_confirmation_closed ON tool_confirmation (closed_at) WHERE closed_at IS NOT NULL;
        DROP INDEX tool_confirmation_expiry;
        CREATE INDEX tool_confirmation_expiry ON tool_confirmation (expires_at) WHERE closed_at IS NULL;
        """
    )
