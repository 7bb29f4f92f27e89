"""Which parts ask the sender something, with buttons that a typed reply makes void."""

from __future__ import annotations

from alembic import op

revision = "0011_prompts"
down_revision = "0010_apologies"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE outbox ADD COLUMN prompt boolean NOT NULL DEFAULT false;
        CREATE INDEX outbox_prompts ON outbox (inbox_id) WHERE prompt;
        """
    )
