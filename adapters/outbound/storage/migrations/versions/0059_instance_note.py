"""What the owner of an instance wrote down about it."""

from alembic import op

revision = "0059_instance_note"
down_revision = "0058_preparing"


def upgrade() -> None:
    op.execute("ALTER TABLE channel_instance ADD note text NOT NULL DEFAULT ''")
