"""Names of the queue: `queue` instead of lane, `session_key`, `message` of the outbox, `worker_id` of a process."""

from alembic import op

revision = "0019_queue"
down_revision = "0018_unused_health"


def upgrade() -> None:
    op.execute(
        """
        -- Kinds of rows: 0 inbound, 1 outbound, 2 counts rounds over all conversations with a correspondent.
        ALTER TABLE lane RENAME TO queue;
        ALTER INDEX lane_pkey RENAME TO queue_pkey;
        ALTER INDEX lane_due RENAME TO queue_due;
        ALTER INDEX lane_owned RENAME TO queue_owned;
        ALTER INDEX lane_touched RENAME TO queue_touched;
        ALTER TABLE queue RENAME COLUMN lane_key TO session_key;

        ALTER TABLE inbox RENAME COLUMN lane_key TO session_key;
        ALTER INDEX inbox_waiting RENAME TO inbox_queued;
        ALTER TABLE outbox RENAME COLUMN lane_key TO session_key;
        ALTER TABLE outbox RENAME COLUMN part TO message;
        ALTER INDEX outbox_waiting RENAME TO outbox_queued;

        ALTER TABLE tool_confirmation RENAME COLUMN lane_key TO session_key;
        ALTER TABLE tool_approval RENAME COLUMN lane_key TO session_key;

        ALTER TABLE process RENAME COLUMN incarnation TO worker_id;
        """
    )
