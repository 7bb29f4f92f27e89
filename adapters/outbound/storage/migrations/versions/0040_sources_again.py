"""Sources that are to be read again as soon as they are read."""

from alembic import op

revision = "0040_sources_again"
down_revision = "0039_words"


def upgrade() -> None:
    op.execute(
        """
        -- again: what asked for a pass while one was under way is followed by another.
        ALTER TABLE kb_source ADD COLUMN again boolean NOT NULL DEFAULT false;
        """
    )
