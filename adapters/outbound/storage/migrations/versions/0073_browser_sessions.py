"""Where a session was opened, and when it was used last."""

from alembic import op

revision = "0073_browser_sessions"
down_revision = "0072_provider_sign_in"


def upgrade() -> None:
    op.execute("ALTER TABLE api_key ADD COLUMN device text, ADD COLUMN used_at timestamptz")
