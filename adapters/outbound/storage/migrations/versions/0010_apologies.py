"""Which parts tell the sender that the message failed."""

from alembic import op

revision = "0010_apologies"
down_revision = "0009_drafts"


def upgrade() -> None:
    op.execute("ALTER TABLE outbox ADD COLUMN apology boolean NOT NULL DEFAULT false")
