"""Whether an upload waits for the embedding model to be prepared."""

from alembic import op

revision = "0058_preparing"
down_revision = "0057_traces"


def upgrade() -> None:
    op.execute("ALTER TABLE kb_upload ADD preparing boolean NOT NULL DEFAULT false")
