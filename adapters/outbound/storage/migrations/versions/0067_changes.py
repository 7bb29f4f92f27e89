"""What an answer did to its conversation."""

from alembic import op

revision = "0067_changes"
down_revision = "0066_lists_by_state"


def upgrade() -> None:
    op.execute(
        """
        -- In words, for the timeline of the message: also of an answer that sends nothing.
        ALTER TABLE inbox ADD COLUMN change text;
        """
    )
