"""Which events were put on their way to subscriptions. Subscriptions are instances with a status of their own."""

from alembic import op

revision = "0028_subscriptions"
down_revision = "0027_message_files"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE event_position (reader text PRIMARY KEY, position bigint NOT NULL);
        CREATE INDEX channel_instance_subscriptions ON channel_instance (id) WHERE status = 'subscription';
        """
    )
