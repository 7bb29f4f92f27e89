"""When a question about a tool was decided."""

from alembic import op

revision = "0029_decided_at"
down_revision = "0028_subscriptions"


def upgrade() -> None:
    op.execute("ALTER TABLE tool_confirmation ADD COLUMN decided_at timestamptz")
