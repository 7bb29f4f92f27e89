"""Who took a conversation over, and the questions that a message led to."""

from alembic import op

revision = "0032_timelines"
down_revision = "0031_sign_in"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE queue ADD COLUMN held_by text, ADD COLUMN held_by_until timestamptz;
        CREATE INDEX tool_confirmation_by_event ON tool_confirmation (asked_by);
        """
    )
