"""Polls: when a run began, whether to look once more, and what a platform gave at a registration."""

from alembic import op

revision = "0008_polling"
down_revision = "0007_pacing"


def upgrade() -> None:
    op.execute(
        """
        -- began_at names the run that works under the lease; null while the lease only waits for a worker.
        -- again: somebody asked for a run while one was under way.
        ALTER TABLE schedule ADD COLUMN began_at timestamptz, ADD COLUMN again boolean NOT NULL DEFAULT false;
        CREATE INDEX schedule_owned ON schedule (owner) WHERE owner IS NOT NULL;

        -- What the platform gave when the callback was registered, as JSON: needed to take that back.
        ALTER TABLE instance_health ADD COLUMN registration text;
        """
    )
