"""Who is responsible for a conversation, its labels, and whether it is closed."""

from alembic import op

revision = "0065_conversation_state"
down_revision = "0064_agent_tasks"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound queues. assignee: "user:ID" or "team:ID". closed_at: until the next message of the person.
        ALTER TABLE queue ADD COLUMN assignee text, ADD COLUMN labels text[], ADD COLUMN closed_at timestamptz;
        """
    )
