"""Files say which of their parts could not be read."""

from alembic import op

revision = "0049_warnings_of_files"
down_revision = "0048_messages_of_a_queue"


def upgrade() -> None:
    op.execute("ALTER TABLE kb_file ADD COLUMN warnings text[] NOT NULL DEFAULT '{}'")
