"""What a resource's protocol keeps between two messages of a conversation, such as the id of a thread."""

from alembic import op

revision = "0059_resource_state"
down_revision = "0058_preparing"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE resource_state (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            resource text NOT NULL,
            state text NOT NULL,
            updated_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (instance_id, session_key, resource)
        );
        CREATE INDEX resource_state_by_age ON resource_state (updated_at);
        """
    )
