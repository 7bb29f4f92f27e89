"""An index of conversations that no statement on single queues can be planned with."""

from alembic import op

revision = "0023_conversation_index"
down_revision = "0022_conversations"


def upgrade() -> None:
    op.execute(
        """
        -- As an expression, so that a lease cannot take the index for one on instance and session: as long as the
        -- planner takes the table for empty, it would read all conversations of the instance.
        DROP INDEX queue_conversations;
        CREATE INDEX queue_conversations ON queue ((instance_id + 0), touched_at, session_key) WHERE kind = 0;
        """
    )
