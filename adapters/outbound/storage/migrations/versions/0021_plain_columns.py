"""Call what is encrypted and what counts references by their names."""

from alembic import op

revision = "0021_plain_columns"
down_revision = "0020_rate_limits"


def upgrade() -> None:
    op.execute("ALTER TABLE key_check RENAME COLUMN sealed TO encrypted")
    op.execute("ALTER TABLE blob RENAME COLUMN holds TO reference_count")
