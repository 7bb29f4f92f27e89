"""Connections that are kept for some instances of a channel, and where they go on reading."""

from alembic import op

revision = "0024_connections"
down_revision = "0023_conversation_index"


def upgrade() -> None:
    op.execute(
        """
        -- connects: a connection to the platform is kept for the instance. Those of channels that were not connected
        -- before are decided when they are saved.
        ALTER TABLE channel_instance ADD COLUMN connects boolean NOT NULL DEFAULT false;
        UPDATE channel_instance SET connects = true WHERE channel_id NOT IN (
            'workspace-chat', 'enterprise-chat', 'community-chat', 'bot-messenger', 'business-messaging',
            'sms-provider', 'email', 'mail-api', 'http-webhook', 'cron', 'drive-folder', 'erp-events'
        );
        CREATE INDEX channel_instance_connected ON channel_instance (channel_id, id) WHERE connects;

        -- cursor: JSON; written together with the events that were read up to there.
        ALTER TABLE link ADD COLUMN cursor text;
        """
    )
