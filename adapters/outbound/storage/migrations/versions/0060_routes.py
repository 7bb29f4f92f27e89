"""Routes of an instance, and the resources that are asked where one fails: JSON texts, NULL for none."""

from alembic import op

revision = "0060_routes"
down_revision = "0059_resource_state"


def upgrade() -> None:
    op.execute("ALTER TABLE channel_instance ADD routes text, ADD fallback text")
