"""The message in which an answer is shown while it is being made."""

from alembic import op

revision = "0009_drafts"
down_revision = "0008_polling"


def upgrade() -> None:
    op.execute("ALTER TABLE inbox ADD COLUMN draft text")
