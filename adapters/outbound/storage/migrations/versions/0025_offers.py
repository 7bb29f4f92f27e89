"""Which message of a conversation offered numbered choices last."""

from alembic import op

revision = "0025_offers"
down_revision = "0024_connections"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound queues: the id of the latest message that offered choices to be typed.
        ALTER TABLE queue ADD COLUMN offered text;
        """
    )
