"""Which parts tell the sender that the message failed."""

from __future__ import annotations

from alembic import op

revision = "0010_apologies"
down_revision = "0009_drafts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE outbox ADD COLUMN apology boolean NOT NULL DEFAULT false")
