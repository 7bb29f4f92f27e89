"""Tasks that resources work on after the time of their runs."""

from alembic import op

revision = "0064_agent_tasks"
down_revision = "0063_forms"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE agent_task (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            request_id text NOT NULL,
            session_key text NOT NULL,
            session_id text NOT NULL,
            resource text NOT NULL,
            task_id text NOT NULL,
            inbox_id bigint,
            polls integer NOT NULL DEFAULT 0,
            next_poll_at timestamptz NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            finished_at timestamptz,
            PRIMARY KEY (instance_id, request_id)
        );
        CREATE INDEX agent_task_due ON agent_task (next_poll_at) WHERE finished_at IS NULL;
        CREATE INDEX agent_task_by_session ON agent_task (instance_id, session_key);
        CREATE INDEX agent_task_by_age ON agent_task (created_at);
        """
    )
