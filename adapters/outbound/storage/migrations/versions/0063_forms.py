"""The form that a person fills in."""

from alembic import op

revision = "0063_forms"
down_revision = "0062_feedback"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound queues: JSON with the form that is open in the session, and what was answered so far.
        ALTER TABLE queue ADD COLUMN form text;
        """
    )
