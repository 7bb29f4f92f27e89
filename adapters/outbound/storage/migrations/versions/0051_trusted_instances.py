"""Instances of which an admin takes the owner's word for who the senders are."""

from alembic import op

revision = "0051_trusted_instances"
down_revision = "0050_parents_of_keys"


def upgrade() -> None:
    op.execute("ALTER TABLE channel_instance ADD COLUMN trusted boolean NOT NULL DEFAULT false")
