"""What was said in the conversations of resources that remember nothing themselves."""

from alembic import op

revision = "0002_chat_history"
down_revision = "0001_core"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE chat_history (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            request_id text NOT NULL,
            role text NOT NULL CHECK (role IN ('user', 'assistant', 'tool_call', 'tool_result')),
            content text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (instance_id, session_key, id)
        );
        CREATE INDEX chat_history_by_age ON chat_history (created_at);
        """
    )
